"""The beginning of a text as choices of tokens, such that what is said begins with it to the letter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from regard.errors import DataError
from regard.text.tokenizer import Tokenizer

SPACE = "▁"
INSIDE = "##"


@dataclass(frozen=True)
class Prefix:
    """Ways to say the beginning: in each state, the tokens that may come and the state each leads to.

    After the last state everything is free.
    """

    choices: tuple[Mapping[int, int], ...]

    def choices_after(self, said: Iterable[int]) -> Mapping[int, int] | None:
        """Return what may follow these tokens; None once the beginning has been said."""
        state = 0
        for token in said:
            if state == len(self.choices):
                return None
            state = self.choices[state].get(token, len(self.choices))
        return self.choices[state] if state < len(self.choices) else None


def exact_prefix(ids: Iterable[int]) -> Prefix:
    """Return the prefix of exactly these tokens."""
    return Prefix(tuple({number: state + 1} for state, number in enumerate(ids)))


def prefix_of(tokenizer: Tokenizer, text: str) -> Prefix:
    """Return the ways to begin with a text.

    Its last word may be unfinished: pieces that go on beyond it ("▁isst" after "Das is") compete with its own.
    """
    *first, last = _words(tokenizer, text)
    before = [number for word in first for number in tokenizer.word_ids(word)]
    own = tokenizer.word_ids(last)
    ends_in_space = _check(tokenizer, text, before, own)
    choices: list[dict[int, int]] = [{number: state + 1} for state, number in enumerate(before + own)]
    if ends_in_space:
        return Prefix((*choices, dict.fromkeys(_begins_a_word(tokenizer), len(choices) + 1)))
    if tokenizer.unk_id in own:  # an unfinished word that is no piece of its own: only longer ones can say it
        own, choices = [tokenizer.unk_id], [*choices[: len(before)], {}]
    rest = last
    for state, number in enumerate(own, start=len(before)):
        longer = [each for each, piece in tokenizer.vocabulary.items() if piece.startswith(rest)]
        choices[state] = dict.fromkeys(longer, len(choices)) | choices[state]
        rest = rest.removeprefix(tokenizer.vocabulary.get(number, ""))
        rest = INSIDE + rest if tokenizer.kind == "WordPiece" else rest
    if not choices[-1]:
        raise DataError(
            f'prefix: no token of this model begins with the "{last.strip(SPACE)}" of "{text}"; choose other words.'
        )
    return Prefix(tuple(choices))


def prefix_ids(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int] | None]:
    """Return the tokens that say a text exactly, and those that may follow (None: any)."""
    ids = [number for word in _words(tokenizer, text) for number in tokenizer.word_ids(word)]
    ends_in_space = _check(tokenizer, text, ids, [])
    return ids, _begins_a_word(tokenizer) if ends_in_space else None


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the stretches of a text that the tokenizer cuts into pieces one by one."""
    words = tokenizer.words(text)
    if not text.strip() or not words:
        raise DataError("prefix: it is empty; give the words the output should begin with.")
    return words


def _check(tokenizer: Tokenizer, text: str, before: list[int], own: list[int]) -> bool:
    """Refuse a text that would come out differently; tell whether it ends in a space that no token stands for."""
    is_truncated = tokenizer.unk_id in own
    said = tokenizer.decode(before if is_truncated else before + own)
    if tokenizer.unk_id not in before and (said == text or (is_truncated and text.startswith(said))):
        return False
    if tokenizer.unk_id not in before and said + " " == text:
        return True
    raise DataError(f'prefix: "{text}" cannot be said exactly, this model would write "{said}".')


def _begins_a_word(tokenizer: Tokenizer) -> list[int]:
    if tokenizer.kind == "WordPiece":
        return [number for number, piece in tokenizer.vocabulary.items() if piece[:1].isalnum()]
    return [number for number, piece in tokenizer.vocabulary.items() if piece.startswith(SPACE)]

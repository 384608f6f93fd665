"""Prefix constraints: a forced beginning as allowed tokens per state, so that the output begins with it exactly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from regard.errors import ConfigError, DataError
from regard.text.tokenizer import Tokenizer

SPACE = "▁"
INSIDE = "##"


@dataclass(frozen=True)
class Prefix:
    """An automaton over tokens: the allowed tokens of each state and the state each leads to; the last is free."""

    choices: tuple[Mapping[int, int], ...]

    def choices_after(self, tokens: Iterable[int]) -> Mapping[int, int] | None:
        """Return the tokens allowed after these ones; None once the prefix is complete."""
        state = 0
        for token in tokens:
            if state == len(self.choices):
                return None
            state = self.choices[state].get(token, len(self.choices))
        return self.choices[state] if state < len(self.choices) else None


def exact_prefix(ids: Iterable[int]) -> Prefix:
    """Return the prefix that allows exactly these tokens."""
    return Prefix(tuple({number: state + 1} for state, number in enumerate(ids)))


def prefix_of(tokenizer: Tokenizer, text: str) -> Prefix:
    """Return the tokenizations that begin with a text.

    Its last word may be unfinished: longer tokens ("▁isst" after "Das is") compete with those of the word itself.
    """
    *first, last = _words(tokenizer, text)
    before = [number for word in first for number in tokenizer.word_ids(word)]
    own = tokenizer.word_ids(last)
    ends_in_space = _check(tokenizer, text, before, own)
    choices: list[dict[int, int]] = [{number: state + 1} for state, number in enumerate(before + own)]
    if ends_in_space:
        return Prefix((*choices, dict.fromkeys(_begins_a_word(tokenizer), len(choices) + 1)))
    if tokenizer.unk_id in own:  # an unfinished word without tokens of its own: only longer tokens match it
        own, choices = [tokenizer.unk_id], [*choices[: len(before)], {}]
    rest = last
    for state, number in enumerate(own, start=len(before)):
        longer = [each for each, token in tokenizer.vocabulary.items() if token.startswith(rest)]
        choices[state] = dict.fromkeys(longer, len(choices)) | choices[state]
        rest = rest.removeprefix(tokenizer.vocabulary.get(number, ""))
        rest = INSIDE + rest if tokenizer.kind == "WordPiece" else rest
    if not choices[-1]:
        raise DataError(
            f'prefix: no token of this model begins with the "{last.strip(SPACE)}" of "{text}"; choose other words.'
        )
    return Prefix(tuple(choices))


def forced_prefixes(tokenizer: Tokenizer, texts: Sequence[str | None], longest: int | None) -> list[Prefix | None]:
    """Return the prefix of each output (None: none); one as long as an output may be is refused."""
    known = {text: prefix_of(tokenizer, text) for text in set(texts) if text}
    for text, tokens in known.items():
        if longest is not None and len(tokens.choices) >= longest:
            raise ConfigError(
                f'prefix: "{text}" has {len(tokens.choices)} tokens, but the output may have {longest} at most, EOS '
                f"included; shorten it."
            )
    return [known[text] if text else None for text in texts]


def prefix_ids(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int] | None]:
    """Return the tokens of a text, which decode to it exactly, and the tokens allowed next (None: any)."""
    ids = [number for word in _words(tokenizer, text) for number in tokenizer.word_ids(word)]
    ends_in_space = _check(tokenizer, text, ids, [])
    return ids, _begins_a_word(tokenizer) if ends_in_space else None


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pre-tokenized words of a text, refused if there are none."""
    words = tokenizer.words(text)
    if not text.strip() or not words:
        raise DataError("prefix: it is empty; give the words the output should begin with.")
    return words


def _check(tokenizer: Tokenizer, text: str, before: list[int], own: list[int]) -> bool:
    """Refuse a text that decodes differently; return True if it ends in a space that no token encodes."""
    is_truncated = tokenizer.unk_id in own
    decoded = tokenizer.decode(before if is_truncated else before + own)
    if tokenizer.unk_id not in before and (decoded == text or (is_truncated and text.startswith(decoded))):
        return False
    if tokenizer.unk_id not in before and decoded + " " == text:
        return True
    raise DataError(f'prefix: "{text}" cannot be generated exactly, this model would generate "{decoded}".')


def _begins_a_word(tokenizer: Tokenizer) -> list[int]:
    if tokenizer.kind == "WordPiece":
        return [number for number, token in tokenizer.vocabulary.items() if token[:1].isalnum()]
    return [number for number, token in tokenizer.vocabulary.items() if token.startswith(SPACE)]

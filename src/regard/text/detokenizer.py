"""Ids to text behind a text, all at once or as they come: what is shown never changes, no character is in parts."""

from collections.abc import Sequence

from regard.text.tokenizer import Tokenizer

CONTEXT = 16
"""Tokens before the new ones that are decoded with them: whether a space stands between depends on them."""
SETTLED = 64
"""New tokens after which the first of them become context: decoding all anew at every step would take ever longer."""
IN_PARTS = "\N{REPLACEMENT CHARACTER}"
"""What bytes that make no character, or none yet, are decoded to."""


class Detokenizer:
    """The text of new tokens, one after the other, up to the first of some texts to stop at."""

    def __init__(self, tokenizer: Tokenizer, prompt: str, before: Sequence[int], stops: Sequence[str] = ()) -> None:
        self.stops = stops
        self.is_stopped = False
        """Whether one of the texts to stop at has come."""
        self._behind = _Behind(tokenizer, prompt, before)
        self._shown = 0  # characters that were returned

    def write(self, token: int) -> str:
        """Return the text that is certain after one more token, and could not begin a text to stop at."""
        return self._show(self._behind.add(token).removesuffix(IN_PARTS))

    def close(self) -> str:
        """Return what was held back."""
        if self.is_stopped:
            return ""
        rest = self._behind.text[self._shown :]
        self._shown += len(rest)
        return rest

    def _show(self, certain: str) -> str:
        found = first_stop(certain, self.stops, self._shown)
        end = len(certain) - self._held(certain) if found is None else found
        self.is_stopped = found is not None
        piece = certain[self._shown : end]
        self._shown = max(self._shown, end)
        return piece

    def _held(self, certain: str) -> int:
        """Return how many characters at the end may be the beginning of a text to stop at."""
        longest = max(map(len, self.stops), default=1)
        tails = range(min(longest - 1, len(certain) - self._shown), 0, -1)
        return next((size for size in tails if any(stop.startswith(certain[-size:]) for stop in self.stops)), 0)


def text_behind(tokenizer: Tokenizer, prompt: str, before: Sequence[int], ids: Sequence[int]) -> str:
    """Return the text that new ids add to a prompt, whose own ids are `before`."""
    return _Behind(tokenizer, prompt, before).of(ids)


def first_stop(text: str, stops: Sequence[str], begin: int = 0) -> int | None:
    """Return where the first of the texts to stop at begins, None where there is none."""
    return min((place for stop in stops if (place := text.find(stop, begin)) >= 0), default=None)


class _Behind:
    """What new ids add to the text of those before."""

    def __init__(self, tokenizer: Tokenizer, prompt: str, before: Sequence[int]) -> None:
        self.tokenizer = tokenizer
        self._context = list(before[-CONTEXT:])
        self._said = tokenizer.decode(self._context)
        # Tokens that carry the space before a word leave out one at the end of a prompt, and say it behind it.
        self._has_space = bool(self._said) and prompt[-1:] == " " and not self._said.endswith(" ")
        self._settled = ""
        self._ids: list[int] = []
        self.text = ""
        """The text of all that was added."""

    def add(self, token: int) -> str:
        """Return the text of all that was added, after one more token."""
        self._ids.append(token)
        self.text = self.of(self._ids)
        if len(self._ids) >= SETTLED and not self.text.endswith(IN_PARTS):
            self._settled, self._context, self._ids = self.text, (self._context + self._ids)[-CONTEXT:], []
            self._said, self._has_space = self.tokenizer.decode(self._context), False
        return self.text

    def of(self, ids: Sequence[int]) -> str:
        """Return the text of what was settled and some ids behind it."""
        fresh = self.tokenizer.decode([*self._context, *ids])[len(self._said) :]
        return self._settled + (fresh.removeprefix(" ") if self._has_space else fresh)

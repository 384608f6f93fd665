"""Incremental detokenization after a prompt: emitted text never changes, and no character is split."""

from collections.abc import Sequence

from regard.text.tokenizer import Tokenizer

CONTEXT = 16
"""Tokens of context decoded along with the new ones: the space between them depends on the context."""
SETTLED = 64
"""New tokens after which they become context: decoding all of them at every step would be quadratic."""
IN_PARTS = "\N{REPLACEMENT CHARACTER}"
"""Decoded from bytes that form no character, or no complete one yet."""


class Detokenizer:
    """Streams the text of new tokens up to the first stop string."""

    def __init__(self, tokenizer: Tokenizer, prompt: str, before: Sequence[int], stops: Sequence[str] = ()) -> None:
        self.stops = stops
        self.is_stopped = False
        """True once a stop string has been generated."""
        self._suffix = _Suffix(tokenizer, prompt, before)
        self._shown = 0  # characters returned so far

    def write(self, token: int) -> str:
        """Return the text that one more token makes final and that cannot begin a stop string."""
        return self._show(self._suffix.add(token).removesuffix(IN_PARTS))

    def close(self) -> str:
        """Return the text that was held back."""
        if self.is_stopped:
            return ""
        rest = self._suffix.text[self._shown :]
        self._shown += len(rest)
        return rest

    def _show(self, final: str) -> str:
        stop = first_stop(final, self.stops, self._shown)
        end = len(final) - self._held(final) if stop is None else stop
        self.is_stopped = stop is not None
        fresh = final[self._shown : end]
        self._shown = max(self._shown, end)
        return fresh

    def _held(self, final: str) -> int:
        """Return the number of characters at the end that may begin a stop string."""
        longest = max(map(len, self.stops), default=1)
        tails = range(min(longest - 1, len(final) - self._shown), 0, -1)
        return next((size for size in tails if any(stop.startswith(final[-size:]) for stop in self.stops)), 0)


def text_after(tokenizer: Tokenizer, prompt: str, before: Sequence[int], ids: Sequence[int]) -> str:
    """Return the text that new ids add to a prompt, whose own ids are `before`."""
    return _Suffix(tokenizer, prompt, before).of(ids)


def first_stop(text: str, stops: Sequence[str], begin: int = 0) -> int | None:
    """Return the position of the first stop string, None if there is none."""
    return min((position for stop in stops if (position := text.find(stop, begin)) >= 0), default=None)


class _Suffix:
    """The text that new ids add to that of the ids before them."""

    def __init__(self, tokenizer: Tokenizer, prompt: str, before: Sequence[int]) -> None:
        self.tokenizer = tokenizer
        self._context = list(before[-CONTEXT:])
        self._context_text = tokenizer.decode(self._context)
        # Tokens that carry the space before a word drop a prompt's last space and decode it after the prompt.
        self._has_space = bool(self._context_text) and prompt[-1:] == " " and not self._context_text.endswith(" ")
        self._settled = ""
        self._ids: list[int] = []
        self.text = ""
        """The text of all ids added so far."""

    def add(self, token: int) -> str:
        """Return the text of all ids added so far, after one more token."""
        self._ids.append(token)
        self.text = self.of(self._ids)
        if len(self._ids) >= SETTLED and not self.text.endswith(IN_PARTS):
            self._settled, self._context, self._ids = self.text, (self._context + self._ids)[-CONTEXT:], []
            self._context_text, self._has_space = self.tokenizer.decode(self._context), False
        return self.text

    def of(self, ids: Sequence[int]) -> str:
        """Return the settled text followed by the text of these ids."""
        fresh = self.tokenizer.decode([*self._context, *ids])[len(self._context_text) :]
        return self._settled + (fresh.removeprefix(" ") if self._has_space else fresh)

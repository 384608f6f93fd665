"""A prompt, and a continuation of it under way."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from regard.text.detokenizer import Detokenizer

FinishReason = Literal["eos", "length", "stop"]
"""The end token, as many tokens as were asked for, or a text to stop at."""


@dataclass(frozen=True)
class Prompt:
    """What is to be continued: its ids (one at least), its text, and the number that draws follow from."""

    ids: Sequence[int]
    text: str = ""
    line: int = 1


@dataclass
class RunningSequence:
    """One continuation under way."""

    prompt: Prompt
    sample: int
    ids: list[int]
    """All that was read and said."""
    writer: Detokenizer | None
    log_probabilities: list[float] = field(default_factory=list)
    """What the model gives each new token, whatever filters and constraints led to it."""
    finish_reason: FinishReason | None = None
    piece: str = ""
    """The text that the last step made certain."""

    @property
    def said(self) -> list[int]:
        """The new tokens."""
        return self.ids[len(self.prompt.ids) :]

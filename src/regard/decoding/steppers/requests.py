"""Generation requests: a prompt, and one sample of its continuation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from regard.text.detokenizer import Detokenizer

FinishReason = Literal["eos", "length", "stop"]
"""eos: the model predicted EOS; length: `max_new_tokens` are reached; stop: a stop string was generated."""


@dataclass(frozen=True)
class Prompt:
    """A prompt: its ids (at least one), its text, and the row number that seeds sampling."""

    ids: Sequence[int]
    text: str = ""
    line: int = 1


@dataclass
class RunningSequence:
    """One sample of a prompt's continuation, finished or not."""

    prompt: Prompt
    sample: int
    ids: list[int]
    """Prompt and generated tokens."""
    writer: Detokenizer | None
    log_probabilities: list[float] = field(default_factory=list)
    """Log probability of each new token under the model, without filters and constraints."""
    finish_reason: FinishReason | None = None
    piece: str = ""
    """The text that the last step added."""

    @property
    def said(self) -> list[int]:
        """The generated tokens."""
        return self.ids[len(self.prompt.ids) :]

"""Rows and options of a language model's calls."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, model_validator

from regard.config.schema import Doc
from regard.decoding.settings import TextDecoding
from regard.pipelines.base import Options
from regard.pipelines.generation import GenerationOptions


@dataclass(frozen=True)
class PromptRow:
    """A text to continue."""

    prompt: Annotated[str, Doc("The text to continue.")]
    prefix: Annotated[str | None, Doc("Text that this output is forced to begin with.")] = None


class TextOptions(TextDecoding, GenerationOptions):
    """Options of text generation."""

    prefix: str | None = None
    """Text that every output is forced to begin with."""
    chat: bool = False
    """Treat the prompt as the message of a user, and render it by the model's chat template."""

    @property
    def streams(self) -> bool:
        """True where a call has one output, which can be shown while it is generated."""
        return self.num_samples == 1

    @model_validator(mode="before")
    @classmethod
    def _n_best_are_generated(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("n_best"):
            return {"num_samples": values["n_best"], **values}
        return values

    @model_validator(mode="after")
    def _n_best_are_there(self) -> "TextOptions":
        if self.n_best is not None and self.n_best > self.num_samples:
            raise ValueError(f"n_best: {self.n_best} is more than num_samples {self.num_samples}; raise that.")
        return self


class TextScoreOptions(Options):
    """Options of scoring texts."""

    stride: int | None = Field(None, ge=1)
    """Tokens between two windows of a text that is longer than the model's (default: half a window)."""
    alternatives: int = Field(0, ge=0)
    """Most probable tokens to list at each position."""
    score_eos: bool = False
    """Score EOS after each text, too."""
    full: bool = False
    """Use the full weights of a model that was loaded with int8 weights."""

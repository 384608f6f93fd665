"""What can be said about the continuation of a text in a recipe or on a command line."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from regard.config.settings import Settings

DRAWING_ONLY = ("top_k", "top_p", "min_p", "num_samples")


class GenerateSettings(Settings):
    """How a text is continued."""

    max_new_tokens: int = Field(100, ge=1)
    """How many new tokens there are at most, the end token included."""
    temperature: float = Field(1.0, ge=0)
    """What logits are divided by before drawing: below 1 is more careful, above 1 more daring, 0 is greedy."""
    top_k: int | None = Field(None, ge=1)
    """Draw among this many most probable tokens only."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Draw among the fewest most probable tokens that hold this share of the probability."""
    min_p: float | None = Field(None, gt=0, le=1)
    """Draw among the tokens that are at least this share as probable as the most probable one."""
    num_samples: int = Field(1, ge=1, le=256)
    """Continuations of each prompt."""
    seed: int = Field(1, ge=0, lt=2**32)
    """A draw follows from it, the number of the prompt, that of the sample, and the step."""
    repetition_penalty: float = Field(1.0, ge=1, le=1e6)
    """What the log probability of a token read or said before is multiplied by; 1 is no penalty."""
    no_repeat_ngram_size: int = Field(0, ge=0)
    """No sequence of this many tokens, read or said, is said again; 0: any may be."""
    min_new_tokens: int = Field(0, ge=0)
    """Fewest new tokens, the end token included: before, it is not said."""
    stop: tuple[str, ...] = ()
    """Texts before which the continuation is cut off."""
    context_window: int | Literal["trained"] | None = None
    """Tokens looked back on; when they are full, the newest half is read anew. Unset: as many as the model takes."""
    add_bos: bool = True
    """Whether a prompt begins a text, after the end token of another as in training; an empty prompt always does."""

    @field_validator("context_window", mode="before")
    @classmethod
    def _is_a_number_or_a_word(cls, value: Any) -> Any:
        if isinstance(value, str) and value != "trained":
            raise ValueError(f'"{value}" is neither a number of tokens nor "trained".')
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> "GenerateSettings":
        for name in DRAWING_ONLY if self.temperature == 0 else ():
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                raise ValueError(f"{name}: {value} is for drawing; set temperature above 0, or leave it out.")
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError(
                f"min_new_tokens: {self.min_new_tokens} is more than max_new_tokens {self.max_new_tokens}."
            )
        if "" in self.stop:
            raise ValueError('stop: "" stands everywhere; give text, or leave it out.')
        if isinstance(self.context_window, int) and self.context_window < 1:
            raise ValueError(
                f"context_window: {self.context_window} is out of range, it must be greater than or equal to 1."
            )
        return self

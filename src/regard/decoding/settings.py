"""What can be said about decoding in a recipe or on a command line."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings

SAMPLING_ONLY = ("num_samples", "temperature", "top_k", "top_p")
SEARCH_ONLY = ("beam_size", "coverage_penalty")
MASKED_ONLY = ("iterations", "length_candidates", "collapse_repeats")


class AnyDecodeSettings(Settings):
    """What every way of decoding says."""

    max_source_length: int = Field(1024, ge=1)
    """Longest source in tokens, its end token included: attention over more would fill the memory."""

    @property
    def hypotheses(self) -> int:
        """How many outputs of each source are under way at once."""
        return 1

    @property
    def longest(self) -> int | None:
        """The most tokens of an output, its end token included, whatever the source; None where that is not said."""
        return None


class MaskPredictDecodeSettings(AnyDecodeSettings):
    """How the words of a target are filled in (Ghazvininejad et al., 2019, §3)."""

    iterations: int = Field(4, ge=1, le=256)
    """How often the decoder goes over the whole output; from the second time on it says the least sure words anew."""
    length_candidates: int = Field(3, ge=1, le=64)
    """Most probable lengths of the output that are tried side by side; the one that is surest is taken."""
    collapse_repeats: bool = False
    """Whether a token that is said twice or more in a row is said once; do not for characters or digits."""

    @property
    def hypotheses(self) -> int:
        """How many outputs of each source are under way at once."""
        return self.length_candidates


class DecodeSettings(AnyDecodeSettings):
    """How a target sequence is chosen, one token after the other."""

    method: Literal["beam", "sample"] = "beam"
    """Look for the most probable sequence, or draw one."""
    beam_size: int = Field(5, ge=1, le=256)
    """Hypotheses kept side by side; 1 is greedy."""
    num_samples: int = Field(1, ge=1, le=256)
    """Sequences drawn for each source."""
    temperature: float = Field(1.0, gt=0)
    """What logits are divided by before drawing: below 1 is more careful, above 1 more daring."""
    top_k: int | None = Field(None, ge=1)
    """Draw among this many most probable tokens only."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Draw among the fewest most probable tokens that hold this share of the probability."""
    seed: int = Field(1, ge=0, lt=2**32)
    """A draw follows from it, the number of the line, and the step."""
    length_penalty: Literal["none", "average", "gnmt"] = "average"
    """What a hypothesis' log probability is divided by: 1, length^alpha, or ((5 + length) / 6)^alpha."""
    length_penalty_alpha: float = Field(1.0, ge=0, le=100)
    """The exponent alpha of the length penalty."""
    coverage_penalty: float = Field(0.0, ge=0, le=1e6)
    """Weight of the GNMT coverage penalty: how much source words that got little attention count against a result."""
    repetition_penalty: float = Field(1.0, ge=1, le=1e6)
    """What the log probability of a token said before is multiplied by; 1 is no penalty."""
    no_repeat_ngram_size: int = Field(0, ge=0)
    """No sequence of this many tokens is said twice; 0: any may be."""
    min_length: int = Field(0, ge=0, le=2**20)
    """Shortest output in tokens, its end token included."""
    max_length: int | None = Field(None, ge=1, le=2**20)
    """Longest output in tokens, its end token included, whatever the source."""
    max_length_ratio: float = Field(2.0, gt=0, le=1000)
    """Longest output for each source token ..."""
    max_length_extra: int = Field(16, ge=1, le=2**20)
    """... and this many tokens more."""

    @model_validator(mode="before")
    @classmethod
    def _a_draw_has_no_beams(cls, values: Any) -> Any:
        return {"beam_size": 1, **values} if isinstance(values, dict) and values.get("method") == "sample" else values

    @model_validator(mode="after")
    def _fit_together(self) -> "DecodeSettings":
        defaults = {name: field.default for name, field in type(self).model_fields.items()} | {"beam_size": 1}
        for name in SAMPLING_ONLY if self.method == "beam" else SEARCH_ONLY:
            value = getattr(self, name)
            if value != defaults[name] and self.method == "beam":
                raise ValueError(f'{name}: {value} is for drawing; say method "sample" too, or leave it out.')
            if value != defaults[name]:
                raise ValueError(f'{name}: {value} is for a search; leave it out, or say method "beam".')
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length: {self.min_length} is more than max_length {self.max_length}.")
        return self

    @property
    def hypotheses(self) -> int:
        """How many outputs of each source are under way at once."""
        return self.beam_size if self.method == "beam" else self.num_samples

    @property
    def longest(self) -> int | None:
        """The most tokens of an output, its end token included, whatever the source."""
        return self.max_length

    def limit(self, source_length: int, bound: int | None = None, prefix: int = 0) -> int:
        """Return the longest output, in tokens with the end token, for one source; never past the model's bound.

        A prefix of that many tokens, and the end behind it, always have room.
        """
        length = int(source_length * self.max_length_ratio) + self.max_length_extra
        if self.max_length is not None:
            length = min(length, self.max_length)
        length = max(length, self.min_length, prefix + 1 if prefix else 0)
        return length if bound is None else min(length, bound)


def length_penalty(settings: DecodeSettings, length: int) -> float:
    """Return what the log probability of a hypothesis of that many tokens (end included) is divided by."""
    if settings.length_penalty == "none":
        return 1.0
    base = length if settings.length_penalty == "average" else (5 + length) / 6
    return float(base**settings.length_penalty_alpha)

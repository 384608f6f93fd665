"""What can be said about decoding in a recipe or on a command line."""

from typing import Literal

from pydantic import Field

from regard.config import Settings


class DecodeSettings(Settings):
    """How a target sequence is chosen."""

    beams: int = Field(1, ge=1, le=256)
    """Hypotheses kept side by side; 1 is greedy."""
    length_penalty: Literal["none", "average", "gnmt"] = "average"
    """What a hypothesis' log probability is divided by: 1, length^alpha, or ((5 + length) / 6)^alpha."""
    length_alpha: float = Field(1.0, ge=0)
    """The exponent alpha of the length penalty."""
    max_length_ratio: float = Field(2.0, gt=0)
    """Longest output for each source token ..."""
    max_length_extra: int = Field(16, ge=1)
    """... and this many tokens more."""

    def max_length(self, source_length: int, bound: int | None = None) -> int:
        """Return the longest output, in tokens with the end token, for one source; never past the model's bound."""
        length = int(source_length * self.max_length_ratio) + self.max_length_extra
        return length if bound is None else min(length, bound)


def length_penalty(settings: DecodeSettings, length: int) -> float:
    """Return what the log probability of a hypothesis of that many tokens (end included) is divided by."""
    if settings.length_penalty == "none":
        return 1.0
    base = length if settings.length_penalty == "average" else (5 + length) / 6
    return float(base**settings.length_alpha)

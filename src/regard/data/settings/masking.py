"""Settings of masking."""

from pydantic import Field, model_validator

from regard.config.settings import Settings


class MaskingSettings(Settings):
    """Selection and replacement of tokens to predict."""

    mask_fraction: float = Field(0.15, gt=0, lt=1)
    """Fraction of a sequence's tokens to predict (at least one token)."""
    masked: float = Field(0.8, ge=0, le=1)
    """Fraction of them replaced by [MASK]."""
    random: float = Field(0.1, ge=0, le=1)
    """Fraction of them replaced by a random token; the rest stay unchanged."""
    whole_word_masking: bool = False
    """Mask all tokens of a word together (WordPiece)."""

    @model_validator(mode="after")
    def _fractions_fit(self) -> "MaskingSettings":
        if self.masked + self.random > 1 + 1e-9:
            raise ValueError(f"random: {self.random} and masked {self.masked} exceed 1; lower one of them.")
        return self

"""Settings of the objectives."""

from typing import Literal

from pydantic import Field

from regard.config.settings import Settings


class ObjectiveSettings(Settings):
    """Translation loss."""

    label_smoothing: float = Field(0.1, ge=0, lt=1)
    """Label smoothing: probability mass moved from the target token to all others."""
    r_drop: float = Field(0.0, ge=0)
    """Weight of R-Drop: the divergence of two passes with different dropout (0: off; doubles the cost of a step)."""


class MaskedTranslationObjectiveSettings(ObjectiveSettings):
    """Mask-predict loss."""

    length_weight: float = Field(0.1, gt=0)
    """Weight of the length-prediction loss, relative to that of the tokens."""


class LanguageObjectiveSettings(Settings):
    """Language-model loss."""

    label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Label smoothing: probability mass moved from the target token to all others."""


class MaskedObjectiveSettings(Settings):
    """Masked-language-model loss."""

    nsp_weight: float = Field(1.0, gt=0)
    """Weight of the next-sentence loss, relative to that of masked tokens."""


class HeadObjectiveSettings(Settings):
    """Fine-tuning loss."""

    lm_weight: float | None = Field(None, ge=0)
    """Weight of the auxiliary next-token loss (default: 0.5 for language models, 0: off; Radford et al., 2018)."""
    class_weights: Literal["none", "balanced"] = "none"
    """Weights of the labels' losses. balanced: inversely proportional to their frequency in training, for labels and
    tags that are rare but matter."""


class VectorObjectiveSettings(Settings):
    """Context window, negative sampling and subsampling."""

    window: int = Field(5, ge=1, le=100)
    """Maximum context window in words on each side; each position samples its own size up to it."""
    negatives: int = Field(5, ge=1, le=100)
    """Negative samples for each true pair."""
    smoothing: float = Field(0.75, ge=0, le=2)
    """Exponent of the counts in the noise distribution (1: unigram; 0: uniform)."""
    subsampling: float = Field(1e-3, ge=0)
    """Relative frequency above which occurrences of a word are dropped at random (0: none is dropped)."""

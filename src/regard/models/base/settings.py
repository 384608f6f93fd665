"""Settings of models: what every family has, and the heads over them."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from regard.config.settings import Settings

COMMON_SETTINGS = ("embeddings", "dropout", "embedding_dropout")
"""Settings with the same meaning in every family: a recipe's values of them apply to any."""


class ModelSettings(Settings):
    """Settings that all families have."""

    family: str
    """Name of the model family."""
    preset: str | None = None
    """Preset that these settings are based on."""
    width: int
    """Width of the model's vectors."""


@dataclass(frozen=True)
class Vocabularies:
    """Vocabulary sizes of source and target in tokens, and True if both share one vocabulary."""

    source: int
    target: int
    is_shared: bool


class ExtraVectorsSettings(Settings):
    """Word vectors, looked up by spelling, concatenated with a body's word states."""

    words: int = Field(ge=1)
    width: int = Field(ge=1)
    freeze: bool = False
    """Keep the vectors fixed instead of fine-tuning them."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the vectors."""


class HeadSettings(Settings):
    """Architecture of a head, without the width of its body."""

    kind: Literal[
        "classification", "regression", "similarity", "multiple-choice", "token-classification", "extractive-qa"
    ] = "classification"
    """classification: logits of labels; regression: a number; similarity: the cosine of two texts; multiple-choice:
    a logit for each choice; token-classification: tag logits of words; extractive-qa: start and end logits."""
    outputs: int = Field(ge=1)
    """Number of labels or tags; 1 for regression and multiple choice, 2 for extractive QA."""
    pooling: Literal["token", "mean", "max"] = "token"
    """Representation of a text. token: the first or last token; mean or max: pooling over all tokens."""
    is_mixed: bool = False
    """Use a learned scalar mix of the body's layers (default: the last layer)."""
    freeze_body: bool = False
    """Freeze the body, and train the head alone."""
    bilstm_width: int = Field(0, ge=0)
    """Width, in each direction, of a BiLSTM over the body's states; 0: none."""
    extra_vectors: ExtraVectorsSettings | None = None
    """Word vectors concatenated with the body's word states (Peters et al., 2018, §3.3) (default: none)."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer."""


class FeatureTaggerSettings(Settings):
    """Architecture of a tagger over frozen features."""

    kind: Literal["bilstm", "linear"] = "bilstm"
    """bilstm: a bidirectional LSTM and a linear layer; linear: the linear layer alone, without context."""
    width: int = Field(128, ge=1, le=4096)
    """Width of the LSTM in each direction."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the features, and before the linear layer."""

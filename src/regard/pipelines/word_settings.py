"""Options of queries to word vectors."""

from typing import Literal

from pydantic import Field

from regard.config.settings import Settings
from regard.pipelines.base import Options

Metric = Literal["cosine", "dot", "euclidean"]
"""cosine: cosine similarity; dot: dot product; euclidean: Euclidean distance."""


class LoadedWords(Settings):
    """The words that are loaded."""

    first: int | None = Field(None, ge=1)
    """Rows to load from a file: its most frequent words (default: all)."""


class MetricOptions(Options):
    """Options of the similarity of two words."""

    metric: Metric = "cosine"
    """cosine: cosine similarity; dot: dot product; euclidean: Euclidean distance."""


class NeighborOptions(MetricOptions):
    """Options of nearest neighbors."""

    top: int = Field(10, ge=1)
    """Words to list."""
    exclude: tuple[str, ...] = ()
    """Words to leave out; repeatable."""


class AnalogyOptions(NeighborOptions):
    """Options of analogies."""

    top: int = Field(5, ge=1)
    """Words to list."""

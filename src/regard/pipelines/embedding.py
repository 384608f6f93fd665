"""Embeddings of texts: options of a call, and its result."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from regard.config.schema import Doc
from regard.pipelines.base import Options, Result
from regard.pipelines.encoder_results import Vectors
from regard.pipelines.inputs import SingleText
from regard.pipelines.pooling import Pooling


class EmbedOptions(Options):
    """Options of embeddings."""

    pooling: Pooling | None = None
    """Pooling of a text's hidden states (default: the checkpoint's, else mean)."""
    layer: int = -1
    """Layer of the hidden states: 0 is the embeddings, -1 the last."""
    normalize: bool | None = None
    """Normalize vectors to unit length (default: the checkpoint's, else no)."""


@dataclass(frozen=True, eq=False)
class Embedding(Result):
    """The vector of a text."""

    row: SingleText
    vector: Annotated[Vectors, Doc("The vector (D,).")]

    columns = ("vector",)

    @property
    def text(self) -> str:
        """The numbers, separated by tabs, with enough digits for float32."""
        return "\t".join(self.cells().values())

    def cells(self) -> dict[str, str]:
        """Return a column for each dimension: v0, v1, ..."""
        return {f"v{number}": str(value) for number, value in enumerate(self.vector.astype(np.float32))}

"""Embeddings of texts: options of a call, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import model_validator

from regard.config.schema import Doc
from regard.pipelines.base import Options, Result
from regard.pipelines.encoder_results import Vectors, in_words
from regard.pipelines.inputs import SingleText
from regard.pipelines.pooling import Pooling


class VectorOptions(Options):
    """Options of the vectors of texts."""

    pooling: Pooling | None = None
    """Pooling of token vectors: cls (the first token), mean or max (default: the model's own, else mean)."""
    layer: int = -1
    """Layer index: 0 for the embeddings, 1 for the first block, -1 for the last."""


class EmbedOptions(VectorOptions):
    """Options of embeddings."""

    normalize: bool | None = None
    """Normalize vectors to unit length (default: the model's own setting)."""
    tokens: bool = False
    """One vector per token instead of per text."""

    @model_validator(mode="after")
    def _tokens_are_not_pooled(self) -> "EmbedOptions":
        if self.tokens and (self.pooling is not None or self.normalize is not None):
            raise ValueError("--pooling and --normalize are for one vector per text; leave them out with --tokens.")
        return self


@dataclass(frozen=True, eq=False)
class Embedding(Result):
    """The vector of a text."""

    row: SingleText
    vector: Annotated[Vectors, Doc("The vector (D,).")]

    columns = ("vector",)
    files = (".npz",)

    @property
    def text(self) -> str:
        """The numbers, separated by tabs, with enough digits for float32."""
        return "\t".join(in_words(self.vector))

    def cells(self) -> dict[str, str]:
        """Return a column for each dimension: v0, v1, ..."""
        return {f"v{number}": value for number, value in enumerate(in_words(self.vector))}

    @classmethod
    def write(cls, path: Path, results: "Sequence[Embedding]") -> None:
        """Write the arrays `texts` and `vectors`."""
        texts = np.array([each.row.text for each in results], dtype=str)
        np.savez(path, texts=texts, vectors=np.stack([each.vector for each in results]))

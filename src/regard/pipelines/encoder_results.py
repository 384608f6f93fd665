"""Results of a text encoder, as frozen dataclasses."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.pipelines.base import Plain, Result
from regard.pipelines.inputs import SingleText

Vectors = NDArray[np.float32]


def in_words(vector: Vectors) -> list[str]:
    """Return the values of a vector as text, with enough digits to round-trip fp32."""
    return [str(value) for value in vector.astype(np.float32)]


@dataclass(frozen=True)
class TokenVectors(Result):
    """The tokens of a text with [CLS] and [SEP], their offsets and vectors."""

    text: str
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    """Start and end of each token in the text, in characters; (0, 0) for [CLS] and [SEP]."""
    vectors: Vectors  # (T, D)
    is_truncated: bool
    """The text was longer than the model's maximum, and was truncated."""

    columns = ("tokens", "vectors")
    files = (".npz", ".jsonl", ".csv")

    @property
    def row(self) -> SingleText:
        """The text."""
        return SingleText(self.text)

    def lines(self) -> list[str]:
        """Return each token with the values of its vector, and a blank line."""
        return [*("\t".join([token, *in_words(each)]) for token, each in zip(self.tokens, self.vectors)), ""]

    def to_dict(self) -> Plain:
        """Return the text, and its tokens with their offsets and vectors."""
        return {name: getattr(self, name) for name in ("text", "tokens", "offsets")} | {
            "vectors": self.vectors.tolist()
        }

    @classmethod
    def write(cls, path: Path, results: "Sequence[TokenVectors]") -> None:
        """Write the vectors of all tokens: arrays, an object per text, or a row per token.

        In .npz, the tokens of all texts are concatenated: those of text i are bounds[i] to bounds[i + 1].
        """
        suffix = path.suffix.lower()
        if suffix == ".npz":
            np.savez(
                path,
                texts=np.array([each.text for each in results], dtype=str),
                tokens=np.array([token for each in results for token in each.tokens], dtype=str),
                bounds=np.cumsum([0, *(len(each.tokens) for each in results)]),
                vectors=np.concatenate([each.vectors for each in results]),
            )
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            if suffix == ".jsonl":
                file.writelines(json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in results)
                return
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["text", "token", *(f"v{number}" for number in range(results[0].vectors.shape[1]))])
            for number, each in enumerate(results):
                writer.writerows(
                    [number, token, *in_words(row)] for token, row in zip(each.tokens, each.vectors, strict=True)
                )


@dataclass(frozen=True)
class WordSimilarity:
    """Cosine similarity of a word of one text and a word of another."""

    in_context: float
    """Of their contextual vectors."""
    without_context: float
    """Of their rows of the embedding matrix: 1 for the same word, whatever its meaning."""

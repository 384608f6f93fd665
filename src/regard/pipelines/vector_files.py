"""Files of text and token embeddings: .npz, .jsonl and .csv."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import ConfigError
from regard.pipelines.encoder_results import TokenVectors, Vectors

ENDINGS = (".npz", ".jsonl", ".csv")


def check_ending(path: Path) -> None:
    """Refuse a file extension without a writer."""
    if path.suffix.lower() not in ENDINGS:
        raise ConfigError(f"{path}: vectors are written to {', '.join(ENDINGS)}; choose one of these endings.")


def write_vectors(path: Path, texts: Sequence[str], vectors: Vectors) -> None:
    """Write the vector of each text: arrays `texts` and `vectors`, or one object or row per text."""
    check_ending(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        np.savez(path, texts=np.array(texts, dtype=str), vectors=vectors)
    elif suffix == ".jsonl":
        _write_lines(path, ({"text": text, "vector": row.tolist()} for text, row in zip(texts, vectors, strict=True)))
    else:
        rows = ([text, *in_words(row)] for text, row in zip(texts, vectors, strict=True))
        _write_rows(path, ["text", *column_names(vectors.shape[1])], rows)


def write_token_vectors(path: Path, texts: Sequence[TokenVectors]) -> None:
    """Write the vectors of all tokens.

    In .npz, the tokens of all texts are concatenated: those of text i are bounds[i] to bounds[i + 1].
    """
    check_ending(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        bounds = np.cumsum([0, *(len(each.tokens) for each in texts)])
        flat = [each.vectors for each in texts]
        np.savez(
            path,
            texts=np.array([each.text for each in texts], dtype=str),
            tokens=np.array([token for each in texts for token in each.tokens], dtype=str),
            bounds=bounds,
            vectors=np.concatenate(flat) if flat else np.zeros((0, 0), np.float32),
        )
    elif suffix == ".jsonl":
        _write_lines(
            path,
            (
                {"text": e.text, "tokens": e.tokens, "offsets": e.offsets, "vectors": e.vectors.tolist()}
                for e in texts
            ),
        )
    else:
        width = texts[0].vectors.shape[1] if texts else 0
        rows = (
            [str(number), token, *in_words(row)]
            for number, each in enumerate(texts)
            for token, row in zip(each.tokens, each.vectors, strict=True)
        )
        _write_rows(path, ["text", "token", *column_names(width)], rows)


def column_names(width: int) -> list[str]:
    """Return the column names of a vector's dimensions."""
    return [f"v{number}" for number in range(width)]


def in_words(vector: Vectors) -> list[str]:
    """Return the values of a vector as text, with enough digits to round-trip fp32."""
    return [str(value) for value in vector.astype(np.float32)]


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _write_rows(path: Path, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

"""Vectors of texts, or of their tokens, as files for other programs."""

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
    """Refuse a file that vectors cannot be written to."""
    if path.suffix.lower() not in ENDINGS:
        raise ConfigError(f"{path}: vectors are written to {', '.join(ENDINGS)}; choose one of these endings.")


def write_vectors(path: Path, texts: Sequence[str], vectors: Vectors) -> None:
    """Write the vector of each text: arrays `texts` and `vectors`, or an object or a row for each."""
    check_ending(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        np.savez(path, texts=np.array(texts, dtype=str), vectors=vectors)
    elif suffix == ".jsonl":
        _write_lines(path, ({"text": text, "vector": row.tolist()} for text, row in zip(texts, vectors, strict=True)))
    else:
        rows = ([text, *in_words(row)] for text, row in zip(texts, vectors, strict=True))
        _write_rows(path, ["text", *column_names(vectors.shape[1])], rows)


def write_token_vectors(path: Path, found: Sequence[TokenVectors]) -> None:
    """Write the vector of each token.

    In .npz, tokens of all texts lie end to end: those of text i are from bounds[i] to bounds[i + 1].
    """
    check_ending(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        bounds = np.cumsum([0, *(len(each.tokens) for each in found)])
        flat = [each.vectors for each in found]
        np.savez(
            path,
            texts=np.array([each.text for each in found], dtype=str),
            tokens=np.array([token for each in found for token in each.tokens], dtype=str),
            bounds=bounds,
            vectors=np.concatenate(flat) if flat else np.zeros((0, 0), np.float32),
        )
    elif suffix == ".jsonl":
        _write_lines(
            path,
            (
                {"text": e.text, "tokens": e.tokens, "offsets": e.offsets, "vectors": e.vectors.tolist()}
                for e in found
            ),
        )
    else:
        width = found[0].vectors.shape[1] if found else 0
        rows = (
            [str(number), token, *in_words(row)]
            for number, each in enumerate(found)
            for token, row in zip(each.tokens, each.vectors, strict=True)
        )
        _write_rows(path, ["text", "token", *column_names(width)], rows)


def column_names(width: int) -> list[str]:
    """Return what the features of a vector are called in a table."""
    return [f"v{number}" for number in range(width)]


def in_words(vector: Vectors) -> list[str]:
    """Return the features of a vector as they are written: as many digits as it takes to read the same again."""
    return [str(value) for value in vector.astype(np.float32)]


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _write_rows(path: Path, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

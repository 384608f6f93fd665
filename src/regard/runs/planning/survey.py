"""Survey of training data: rows and characters, estimated from sizes of files and a sample of their beginning."""

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard import miniature
from regard.config.parsing import ParseError, parse_json
from regard.errors import RegardError
from regard.tasks.planning.inputs import Survey

SAMPLE = 2**20
"""Bytes read at the beginning of a file."""
SUFFIXES = (".txt", ".md", ".jsonl")
MINIATURE = "miniature:"
MINIATURE_ROWS = 100_000
"""Rows of the miniature world where no number of them is given."""
SAMPLED = 100
IDEOGRAMS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Characters that stand for syllables or words."""


def survey(source: Any, lines: Sequence[str] = ()) -> Survey | None:
    """Return the size of a source of training data; None: it cannot be read, or is not a file.

    `lines` are its rows where they are yet to be written.
    """
    with suppress(OSError, EOFError, zlib.error, RegardError):
        limit = getattr(source, "max_rows", None)
        sides = 2 if "source_column" in type(source).model_fields else 1
        if lines:
            size = _Size(len(lines))
            size.add("\n".join(lines), 1.0, is_json=True)
            return size.survey(sides)
        if getattr(source, "source", None) is not None:
            one, other = _size([Path(source.source)], limit), _size([Path(source.target)], limit)
            other.rows, other.alphabet = one.rows, one.alphabet | other.alphabet
            other.characters, other.ideograms = one.characters + other.characters, one.ideograms + other.ideograms
            return other.survey(sides=2)
        paths = getattr(source, "paths", None) or (source.path,)
        if any(str(path).startswith(MINIATURE) for path in paths):
            return _miniature(str(paths[0]), limit, sides)
        size = _size(_files(paths), limit)
        return size.survey(sides) if size.rows else None
    return None


def _files(paths: Iterable[str]) -> list[Path]:
    """Return the files of paths, those in folders too."""
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(each for each in path.rglob("*") if each.name.removesuffix(".gz").endswith(SUFFIXES))
        files += inside if path.is_dir() else [path]
    return files


@dataclass
class _Size:
    """Counts of files, estimated where a file is larger than its sample."""

    rows: float = 0.0
    characters: float = 0.0
    ideograms: float = 0.0
    alphabet: set[str] = field(default_factory=set)

    def add(self, text: str, share: float, is_json: bool) -> None:
        """Count the characters of a text that stands for `share` times as much."""
        times = share * (_text_share(text.splitlines()) if is_json else 1.0)
        self.characters += times * len(text)
        self.ideograms += 0 if text.isascii() else times * len(IDEOGRAMS.findall(text))
        self.alphabet |= set(text)

    def survey(self, sides: int) -> Survey:
        """Return it as the size of training data."""
        ideograms = round(self.ideograms / max(1, self.characters), 3)
        return Survey(round(self.rows), round(self.characters), sides, ideograms, len(self.alphabet))


def _size(files: Iterable[Path], limit: int | None) -> _Size:
    """Return the size of files together, of at most so many rows of them."""
    size = _Size()
    for file in files:
        sample, whole = _sample(file)
        if whole > len(sample):
            sample = sample[: sample.rfind(b"\n") + 1] or sample  # whole lines
        share = whole / max(1, len(sample))
        size.rows += share * _rows(file, sample, is_whole=share == 1)
        size.add(sample.decode("utf-8", "ignore"), share, file.name.removesuffix(".gz").endswith(".jsonl"))
    if limit is not None and size.rows > limit:
        size.characters, size.ideograms = size.characters * limit / size.rows, size.ideograms * limit / size.rows
        size.rows = limit
    return size


def _text_share(lines: Sequence[str]) -> float:
    """Return the fraction of rows of JSON that is values; the rest is names and marks."""
    first = lines[:SAMPLED]
    values = 0
    for line in first:
        with suppress(ParseError):
            values += _length(parse_json(line))
    return min(1.0, values / max(1, sum(map(len, first)))) or 1.0


def _length(value: object) -> int:
    """Return the characters of all texts in a value of JSON."""
    if isinstance(value, str):
        return len(value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_length, inside))


def _rows(file: Path, sample: bytes, is_whole: bool) -> int:
    """Return the rows in the beginning of a file: questions or objects, sentences between blank lines, or lines."""
    match file.name.removesuffix(".gz").rpartition(".")[2]:
        case "json":
            return sample.count(b'"question"') or sample.count(b"{")
        case "conll" | "conllu":
            blocks = re.split(rb"(?:\r?\n[ \t]*){2,}", sample.strip())
            return len(blocks) if is_whole else len(blocks) - 1
        case _:
            return sample.count(b"\n") + (is_whole and not sample.endswith(b"\n"))


def _sample(path: Path) -> tuple[bytes, int]:
    """Return the beginning of a file, and the number of all its bytes, unpacked; of a .gz file about."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        if raw.read(2) != b"\x1f\x8b":
            raw.seek(0)
            return raw.read(SAMPLE), size
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) as unpacked:
            sample = unpacked.read(SAMPLE)
            if not unpacked.read(1):
                return sample, len(sample)
            ratio = len(sample) / max(1, raw.tell())
        raw.seek(-4, os.SEEK_END)  # the length of the last part, which is the only one as a rule
        return sample, max(round(ratio * size), int.from_bytes(raw.read(4), "little"))


def _miniature(path: str, limit: int | None, sides: int) -> Survey:
    """Return the size of a part of the miniature world, from a few of its rows."""
    rows, split = limit or MINIATURE_ROWS, path.removeprefix(MINIATURE)
    if sides == 2:
        sample = [pair.source + pair.target for pair in miniature.pairs(split, SAMPLED)]
    else:
        sample = list(miniature.documents("train", SAMPLED))
    return Survey(rows, round(rows * sum(map(len, sample)) / len(sample)), sides)

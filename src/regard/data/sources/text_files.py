"""Inputs of running text: files, `datasets` and the miniature world, each with a fingerprint that shows changes."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from regard import miniature
from regard.config.limits import TEXT, max_text_bytes, readable_size
from regard.data.settings.text import TextSource
from regard.data.sources.documents import (
    JSON_LINES,
    DocumentChunk,
    DocumentSpan,
    chunks_of,
    ending,
    file_chunks,
    text_of,
)
from regard.data.sources.lines import explaining
from regard.data.sources.records import dataset_rows, load_datasets
from regard.errors import DataError

MINIATURE = "miniature:"

ENDINGS = (".txt", ".md", *JSON_LINES)
"""Extensions of text files in a folder, each also with .gz."""


class Input(Protocol):
    """One input, read from start to end in the same chunks as long as it is unchanged."""

    @property
    def name(self) -> str:
        """Its name in messages and manifests."""

    @property
    def size(self) -> int | None:
        """The sum of `consumed` over all chunks, if it is known in advance."""

    def glance(self) -> list[int | str]:
        """Return cheap signs of change, such as size and modification time."""

    def fingerprint(self) -> str:
        """Return a hash of the contents."""

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its documents in chunks."""


@dataclass(frozen=True)
class FileInput:
    """A file of text."""

    path: Path
    source: TextSource

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def size(self) -> int:
        """Its size on disk in bytes."""
        with explaining(self.path):
            return self.path.stat().st_size

    def glance(self) -> list[int | str]:
        """Return size and modification time."""
        with explaining(self.path):
            status = self.path.stat()
        return [status.st_size, status.st_mtime_ns]

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file as it is on disk."""
        with explaining(self.path), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its documents in chunks."""
        return file_chunks(self.path, self.source)


@dataclass(frozen=True)
class DatasetInput:
    """A Hugging Face data set; its rows stay on disk."""

    name: str
    source: TextSource
    size: int | None = None

    @cached_property
    def _rows(self) -> Any:
        return load_datasets(self.name, self.source.config, self.source.split)

    def glance(self) -> list[int | str]:
        """Return its configuration, its split, its library fingerprint and the number of rows."""
        return [self.source.config or "", self.source.split, str(self._rows._fingerprint), len(self._rows)]

    def fingerprint(self) -> str:
        """Return a hash of `glance`: the library keeps no hash of the contents."""
        return hashlib.sha256(repr(self.glance()).encode()).hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its rows in chunks."""
        return chunks_of(self._parts())

    def _parts(self) -> Iterator[DocumentSpan]:
        for number, row in enumerate(dataset_rows(self._rows, self.name), start=1):
            text = text_of(row, self.source.field, f"{self.name}: record {number}")
            yield DocumentSpan(text, True, len(text.encode()))


@dataclass(frozen=True)
class MiniatureInput:
    """Stories, or texts of another set, of the miniature world."""

    name: str
    source: TextSource
    size: int | None = None

    @property
    def _address(self) -> str:
        return self.name.removeprefix(MINIATURE)

    def glance(self) -> list[int | str]:
        """Return set and split, the number of texts, and the first texts."""
        first = miniature.texts(self._address, 1 if "/" not in self._address else 20)
        return [self._address, self.source.max_rows or 0, *first]

    def fingerprint(self) -> str:
        """Return a hash of `glance`, which determines all texts."""
        return hashlib.sha256(repr(self.glance()).encode()).hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield the texts in chunks."""
        texts = miniature.texts(self._address, self.source.max_rows)
        return chunks_of(DocumentSpan(text, True, len(text.encode())) for text in texts)


def find_inputs(source: TextSource) -> list[Input]:
    """Return the inputs of a source, in order and without duplicates."""
    inputs: dict[str, Input] = {}
    for path in source.paths:
        for each in _inputs_at(path, source):
            inputs.setdefault(each.name, each)
    return list(inputs.values())


def _inputs_at(path: str, source: TextSource) -> list[Input]:
    if path.startswith("hf:"):
        return [DatasetInput(path, source)]
    if path.startswith(MINIATURE):
        miniature.texts(path.removeprefix(MINIATURE), 1)  # an unknown set or split is refused here
        return [MiniatureInput(path, source)]
    return [FileInput(file, source) for file in _files_at(Path(path))]


def _files_at(path: Path) -> list[Path]:
    """Return the file itself, or a folder's text files sorted by path, without hidden files."""
    if not path.is_dir():
        if ending(path) == ".json":
            raise DataError(f"{path}: .json holds one value; write one object per line and name the file .jsonl.")
        return [path]
    files = [
        file
        for file in path.rglob("*")
        if ending(file) in ENDINGS
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if not files:
        raise DataError(
            f"{path}: there is no text in this folder (.txt, .md or .jsonl, each also .gz); name another folder, or "
            f"the files themselves."
        )
    return sorted(files, key=lambda file: file.relative_to(path).parts)


def read_documents(source: TextSource) -> Iterator[str]:
    """Yield the whole documents of a source, one by one."""
    number, parts, size, limit = 0, list[str](), 0, max_text_bytes()
    for each in find_inputs(source):
        for chunk in each.pieces():
            parts.append(chunk.text)
            size += len(chunk.text)
            if size > limit:
                raise DataError(
                    f"{each.name}: document {number + 1:,} has more than {readable_size(limit)} of text, the most "
                    f"that is read at once; split it (documents), or raise the limit with {TEXT}=BYTES in the "
                    f"environment."
                )
            if chunk.is_last:
                yield "".join(parts)
                number, parts, size = number + 1, [], 0
                if number == source.max_rows:
                    return
    if not number:
        raise nothing_in(source)


def nothing_in(source: TextSource) -> DataError:
    """Return the error for a source without text."""
    return DataError(f"{source.name}: there is no text in it (empty or only white space); name files with text.")

"""What running text is read from: single files and `datasets` sets, each with signs of having changed."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from regard import miniature
from regard.config.limits import TEXT, max_text_bytes, size_in_words
from regard.data.settings.text import TextSource
from regard.data.sources.documents import (
    JSON_LINES,
    DocumentChunk,
    DocumentSpan,
    ending,
    file_pieces,
    pieces_of,
    text_of,
)
from regard.data.sources.lines import explaining
from regard.data.sources.records import dataset_rows, load_datasets
from regard.errors import DataError

MINIATURE = "miniature:"

ENDINGS = (".txt", ".md", *JSON_LINES)
"""What is text in a folder, each also with .gz."""


class Input(Protocol):
    """One thing that is read from its beginning to its end, always in the same pieces while it has not changed."""

    @property
    def name(self) -> str:
        """How messages and manifests call it."""

    @property
    def size(self) -> int | None:
        """What the `consumed` of all pieces comes to, if it is known."""

    def glance(self) -> list[int | str]:
        """Return what is quickly found out and changes when the contents do."""

    def fingerprint(self) -> str:
        """Return a hash of the contents."""

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its documents in pieces."""


@dataclass(frozen=True)
class FileInput:
    """A file of text."""

    path: Path
    place: TextSource

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def size(self) -> int:
        """How many bytes it has on disk."""
        with explaining(self.path):
            return self.path.stat().st_size

    def glance(self) -> list[int | str]:
        """Return size and time of the last change."""
        with explaining(self.path):
            found = self.path.stat()
        return [found.st_size, found.st_mtime_ns]

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file as it is on disk."""
        with explaining(self.path), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its documents in pieces."""
        return file_pieces(self.path, self.place)


@dataclass(frozen=True)
class DatasetInput:
    """A `datasets` set; its rows stay on disk."""

    name: str
    place: TextSource
    size: int | None = None

    @cached_property
    def _rows(self) -> Any:
        return load_datasets(self.name, self.place.config, self.place.split)

    def glance(self) -> list[int | str]:
        """Return its own mark of its contents and how they came about, and the number of rows."""
        return [self.place.config or "", self.place.split, str(self._rows._fingerprint), len(self._rows)]

    def fingerprint(self) -> str:
        """Return a hash of that mark: the library keeps no hash of the contents."""
        return hashlib.sha256(repr(self.glance()).encode()).hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield its rows in pieces."""
        return pieces_of(self._parts())

    def _parts(self) -> Iterator[DocumentSpan]:
        for number, row in enumerate(dataset_rows(self._rows, self.name), start=1):
            text = text_of(row, self.place.field, f"{self.name}: record {number}")
            yield DocumentSpan(text, True, len(text.encode()))


@dataclass(frozen=True)
class MiniatureInput:
    """Stories, or texts of another set, of the miniature world."""

    name: str
    place: TextSource
    size: int | None = None

    @property
    def _place(self) -> str:
        return self.name.removeprefix(MINIATURE)

    def glance(self) -> list[int | str]:
        """Return the place, how many texts there are to be, and the first ones."""
        first = miniature.texts(self._place, 1 if "/" not in self._place else 20)
        return [self._place, self.place.max_rows or 0, *first]

    def fingerprint(self) -> str:
        """Return a hash of that: the others follow from it."""
        return hashlib.sha256(repr(self.glance()).encode()).hexdigest()

    def pieces(self) -> Iterator[DocumentChunk]:
        """Yield the texts in pieces."""
        texts = miniature.texts(self._place, self.place.max_rows)
        return pieces_of(DocumentSpan(text, True, len(text.encode())) for text in texts)


def find_inputs(place: TextSource) -> list[Input]:
    """Return what a place names, in order; what is named twice comes once."""
    found: dict[str, Input] = {}
    for path in place.paths:
        for each in _inputs_at(path, place):
            found.setdefault(each.name, each)
    return list(found.values())


def _inputs_at(path: str, place: TextSource) -> list[Input]:
    if path.startswith("hf:"):
        return [DatasetInput(path, place)]
    if path.startswith(MINIATURE):
        miniature.texts(path.removeprefix(MINIATURE), 1)  # an unknown set or split is refused here
        return [MiniatureInput(path, place)]
    return [FileInput(file, place) for file in _files_at(Path(path))]


def _files_at(path: Path) -> list[Path]:
    """Return a file itself, or the text in a folder sorted by path, hidden files left out."""
    if not path.is_dir():
        if ending(path) == ".json":
            raise DataError(f"{path}: .json holds one value; write one object a line and call the file .jsonl.")
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


def read_documents(place: TextSource) -> Iterator[str]:
    """Yield the documents of a place one by one, each whole."""
    number, parts, size, limit = 0, list[str](), 0, max_text_bytes()
    for each in find_inputs(place):
        for piece in each.pieces():
            parts.append(piece.text)
            size += len(piece.text)
            if size > limit:
                raise DataError(
                    f"{each.name}: document {number + 1:,} has more than {size_in_words(limit)} of text, the most "
                    f"that is read at once; part it (documents), or raise the limit with {TEXT}=BYTES in the "
                    f"environment."
                )
            if piece.is_last:
                yield "".join(parts)
                number, parts, size = number + 1, [], 0
                if number == place.max_rows:
                    return
    if not number:
        raise nothing_in(place)


def nothing_in(place: TextSource) -> DataError:
    """Return what to say about a place without text."""
    return DataError(f"{place.name}: there is no text in it, only white space or nothing; name files that hold some.")

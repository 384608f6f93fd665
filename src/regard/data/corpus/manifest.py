"""The book of a folder of shards: what they were made from, so that nothing is made twice or trusted too long."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StringConstraints, model_validator

from regard.config.records import Count, Record, check_record, read_json
from regard.data.corpus.corpus import ids_file, pieces_file
from regard.errors import DataError
from regard.progress import Progress

MANIFEST = "manifest.json"
LOCK = ".lock"
ASIDE = ".aside"
OURS = re.compile(rf"(?P<shard>\d{{6,}})\.(ids|pieces)\.npy|\..+{re.escape(ASIDE)}")
FORMAT = 2

ShardName = Annotated[str, StringConstraints(pattern=r"^[0-9]{6,18}$")]
"""The name of a shard; the names of its files follow from it."""


class EntryRecord(Record):
    """An entry as it is written."""

    glance: list[int | str]
    sha256: str
    limit: Count | None
    spans: list[Annotated[tuple[ShardName, Count, Count], Field(strict=False)]]
    documents: Count = 0
    is_complete: bool = False

    @model_validator(mode="after")
    def _says_where_its_documents_are(self) -> "EntryRecord":
        if self.is_complete and self.documents and not self.spans:
            raise ValueError("spans are missing")
        return self


class CorpusManifest(Record):
    """A manifest as it is written."""

    tokenizer: str
    reading: dict[str, Any]
    shards: dict[ShardName, Count]
    inputs: dict[str, EntryRecord]
    made: Count
    format: int

    def manifest(self) -> "Manifest":
        """Return it as it is worked with."""
        names = ("tokenizer", "reading", "shards", "made", "format")
        inputs = {
            name: Entry(each.glance, each.sha256, each.limit, each.spans, each.documents, each.is_complete)
            for name, each in self.inputs.items()
        }
        return Manifest(**{name: getattr(self, name) for name in names}, inputs=inputs)


@dataclass
class Entry:
    """What is known of one input, and where the pieces read from it are."""

    glance: list[int | str]
    sha256: str
    limit: int | None
    """Documents that were wanted from it at most."""
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    """(shard, first piece, piece after the last)."""
    documents: int = 0
    is_complete: bool = False


@dataclass
class Manifest:
    """Hashes of tokenizer, reading settings and inputs; the sizes of all shards in bytes."""

    tokenizer: str
    reading: dict[str, Any]
    shards: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, Entry] = field(default_factory=dict)
    made: int = 0
    """Shards ever made here: no name is given twice, as somebody may still read what had it."""
    format: int = FORMAT

    def save(self, folder: Path) -> None:
        """Replace the manifest of a folder in one step."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"
        write_aside(folder / MANIFEST, lambda file: file.write(text.encode("utf-8", "surrogateescape")))

    @staticmethod
    def has_shards(folder: Path) -> bool:
        """Tell whether any shard was finished in a folder."""
        return any(OURS.fullmatch(path.name) for path in folder.iterdir())

    def sweep(self, folder: Path) -> None:
        """Forget the shards that no input needs any more, and delete all files that belong to none."""
        used = {name for entry in self.inputs.values() for name, _, _ in entry.spans}
        self.shards = {name: size for name, size in self.shards.items() if name in used}
        for path in folder.iterdir():
            found = OURS.fullmatch(path.name)
            if found and found["shard"] not in self.shards:
                path.unlink()


def read_manifest(folder: Path, tokenizer: str, reading: dict[str, Any]) -> Manifest:
    """Return the manifest of a folder with what is still whole; an empty one if other things made its shards."""
    path, what = folder / MANIFEST, "the manifest of tokenized text"
    try:
        found = read_json(path, DataError, what, decoding="surrogateescape")
        record = check_record(found, path, CorpusManifest, DataError, what)
    except (FileNotFoundError, DataError):  # none yet, or one that nobody can read: all is made anew
        return Manifest(tokenizer, reading)
    book = record.manifest()
    if (book.format, book.tokenizer, book.reading) != (FORMAT, tokenizer, reading):
        return Manifest(tokenizer, reading, made=book.made)
    whole = {name for name, size in book.shards.items() if shard_size(folder, name) == size}
    book.inputs = {
        name: entry for name, entry in book.inputs.items() if all(span[0] in whole for span in entry.spans)
    }
    return book


def shard_size(folder: Path, name: str) -> int | None:
    """Return how many bytes a shard has on disk, if it is there."""
    try:
        return ids_file(folder, name).stat().st_size + pieces_file(folder, name).stat().st_size
    except OSError:
        return None


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write a .npy file, whole or not at all."""

    def write(file: BinaryIO) -> None:  # numpy's own way of writing keeps to itself why it failed
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.tobytes())

    write_aside(path, write)


def write_aside(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let a file appear whole or not at all: written under another name, synced, renamed."""
    aside = path.with_name(f".{path.name}{ASIDE}")
    try:
        with aside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def kept_if_used(folder: Path) -> Iterator[None]:
    """Make a folder; if what follows fails before anything is finished there, remove it and the ones made for it."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if made and not Manifest.has_shards(folder):
            for name in (LOCK, MANIFEST):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty: somebody else has moved in
                for each in made:
                    each.rmdir()
        raise


@contextmanager
def locked(folder: Path, progress: Progress) -> Iterator[None]:
    """Let one process at a time write to a folder; the lock of one that was killed is gone with it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"{folder}: another process is writing the tokenized text; waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield

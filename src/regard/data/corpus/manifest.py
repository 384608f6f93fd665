"""The manifest of a folder of shards: what they were made from, so that only new or changed inputs are tokenized."""

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
from regard.data.corpus.corpus import chunks_file, ids_file
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
    """An entry as stored in JSON."""

    glance: list[int | str]
    sha256: str
    limit: Count | None
    spans: list[Annotated[tuple[ShardName, Count, Count], Field(strict=False)]]
    documents: Count = 0
    is_complete: bool = False

    @model_validator(mode="after")
    def _has_spans_for_its_documents(self) -> "EntryRecord":
        if self.is_complete and self.documents and not self.spans:
            raise ValueError("spans are missing")
        return self


class CorpusManifest(Record):
    """A manifest as stored in JSON."""

    tokenizer: str
    reading: dict[str, Any]
    shards: dict[ShardName, Count]
    inputs: dict[str, EntryRecord]
    made: Count
    format: int

    def manifest(self) -> "Manifest":
        """Return it as a `Manifest`."""
        names = ("tokenizer", "reading", "shards", "made", "format")
        inputs = {
            name: Entry(each.glance, each.sha256, each.limit, each.spans, each.documents, each.is_complete)
            for name, each in self.inputs.items()
        }
        return Manifest(**{name: getattr(self, name) for name in names}, inputs=inputs)


@dataclass
class Entry:
    """One input: signs of change, hash, and the spans of shards that hold its chunks."""

    glance: list[int | str]
    sha256: str
    limit: int | None
    """Maximum number of documents taken from it."""
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    """(shard, first chunk, last chunk + 1)."""
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
    """Shards ever made here: names are not reused, as another process may still read an old shard."""
    format: int = FORMAT

    def save(self, folder: Path) -> None:
        """Replace the manifest of a folder atomically."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"
        write_aside(folder / MANIFEST, lambda file: file.write(text.encode("utf-8", "surrogateescape")))

    @staticmethod
    def has_shards(folder: Path) -> bool:
        """Return whether a folder holds any finished shard."""
        return any(OURS.fullmatch(path.name) for path in folder.iterdir())

    def sweep(self, folder: Path) -> None:
        """Drop the shards that no input uses, and delete their files."""
        used = {name for entry in self.inputs.values() for name, _, _ in entry.spans}
        self.shards = {name: size for name, size in self.shards.items() if name in used}
        for path in folder.iterdir():
            match = OURS.fullmatch(path.name)
            if match and match["shard"] not in self.shards:
                path.unlink()


def read_manifest(folder: Path, tokenizer: str, reading: dict[str, Any]) -> Manifest:
    """Return the manifest of a folder without damaged shards; an empty one if tokenizer or settings differ."""
    path, what = folder / MANIFEST, "the manifest of tokenized text"
    try:
        contents = read_json(path, DataError, what, decoding="surrogateescape")
        record = check_record(contents, path, CorpusManifest, DataError, what)
    except (FileNotFoundError, DataError):  # missing or unreadable: everything is rebuilt
        return Manifest(tokenizer, reading)
    manifest = record.manifest()
    if (manifest.format, manifest.tokenizer, manifest.reading) != (FORMAT, tokenizer, reading):
        return Manifest(tokenizer, reading, made=manifest.made)
    whole = {name for name, size in manifest.shards.items() if shard_size(folder, name) == size}
    manifest.inputs = {
        name: entry for name, entry in manifest.inputs.items() if all(span[0] in whole for span in entry.spans)
    }
    return manifest


def shard_size(folder: Path, name: str) -> int | None:
    """Return the size of a shard on disk in bytes; None if it is missing."""
    try:
        return ids_file(folder, name).stat().st_size + chunks_file(folder, name).stat().st_size
    except OSError:
        return None


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write a .npy file atomically."""

    def write(file: BinaryIO) -> None:  # np.save hides the reason of a failed write
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.tobytes())

    write_aside(path, write)


def write_aside(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file atomically: under a temporary name, synced, then renamed."""
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
    """Make a folder; if the block fails before a shard is finished, remove the folders that were made."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if made and not Manifest.has_shards(folder):
            for name in (LOCK, MANIFEST):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty: another process uses it
                for each in made:
                    each.rmdir()
        raise


@contextmanager
def locked(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold an exclusive lock on a folder; the lock of a killed process is released by the system."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.info(f"{folder}: another process is writing the tokenized text; waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""Tokenization by any number of processes and hosts over one folder: each input is claimed, nothing is done twice.

The shards follow from the inputs alone: however many processes there are, and whenever they are killed, the bytes are
the same. A process that takes over an input continues after its last finished shard.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.config.records import check_record, read_json
from regard.data.corpus.claims import Claim, Claims, wait_a_moment
from regard.data.corpus.corpus import CHUNK_FIELDS, chunks_file, ids_file
from regard.data.corpus.encoders import DocumentEncoder
from regard.data.corpus.manifest import MANIFEST, Entry, EntryRecord, Manifest, shard_size, write_array, write_aside
from regard.data.sources.documents import DocumentChunk
from regard.data.sources.text_files import Input
from regard.errors import DataError
from regard.progress import SILENT, Progress

WORK = ".work"
"""The folder of claims, of what is finished, and of the log."""
MOST_SHARDS = 1000
"""Shards of one input, whose number is in their names."""
BATCH = 128
"""Chunks encoded together."""


class SharedWork:
    """The tokenization of a text in a folder, by all processes that do this at the same time."""

    def __init__(self, folder: Path, encoder: DocumentEncoder, reading: dict[str, object], shard: int) -> None:
        self.folder, self.encoder, self.reading, self.shard = folder, encoder, reading, shard
        self.work = folder / WORK
        self.claims = Claims(self.work)
        tokenizer = encoder.tokenizer
        self.hash = hashlib.sha256(tokenizer.to_json().encode()).hexdigest()
        self.type = np.uint16 if max(*tokenizer.specials, *tokenizer.vocabulary) < 2**16 else np.uint32

    def run(self, inputs: list[Input], progress: Progress = SILENT, title: str = "tokenize") -> None:
        """Tokenize the inputs that nobody has, wait for the others, and write the manifest."""
        if (self.folder / MANIFEST).exists():
            return  # what is new or changed since is for one process
        units = [_Unit(self, number, each) for number, each in enumerate(inputs)]
        left = list(units)
        with progress.bar(title, len(units)) as bar:
            while left:
                ran = [each.try_to_run() for each in left]
                before, left = len(left), [each for each in left if not each.is_done]
                bar.advance(before - len(left))
                if left and not any(ran):
                    wait_a_moment()
        while not (self.folder / MANIFEST).exists():
            with self.claims.taken("manifest") as claim:
                if claim is not None and not (self.folder / MANIFEST).exists():
                    self._write_manifest(units)
            wait_a_moment()

    def _write_manifest(self, units: "list[_Unit]") -> None:
        entries = {each.input.name: each.entry() for each in units}
        names = [name for entry in entries.values() for name, _, _ in entry.spans]
        sizes = {name: shard_size(self.folder, name) or 0 for name in names}
        Manifest(self.hash, self.reading, sizes, entries, MOST_SHARDS * len(units)).save(self.folder)

    def log(self, **values: object) -> None:
        """Add a line to this process' log."""
        name = hashlib.sha256(self.claims.owner.encode()).hexdigest()[:16]
        with (self.work / f"{name}.log").open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(json.dumps({"by": self.claims.owner} | values) + "\n")


class _Unit:
    """One input."""

    def __init__(self, shared: SharedWork, number: int, each: Input) -> None:
        self.shared, self.number, self.input = shared, number, each
        self.glance = each.glance()
        key = [shared.hash, shared.reading, shared.shard, number, each.name, self.glance]
        self.name = hashlib.sha256(repr(key).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.path = shared.work / f"{self.name}.json"

    @property
    def is_done(self) -> bool:
        """True if all of it is in finished shards."""
        return self.path.exists() and self.entry().is_complete

    def entry(self) -> Entry:
        """Return what is finished of it."""
        try:
            values = read_json(self.path, DataError, "finished shards", decoding="surrogateescape")
            record = check_record(values, self.path, EntryRecord, DataError, "finished shards")
        except FileNotFoundError:
            return Entry(self.glance, self.input.fingerprint(), None)
        return Entry(record.glance, record.sha256, record.limit, record.spans, record.documents, record.is_complete)

    def try_to_run(self) -> bool:
        """Tokenize it if it is neither done nor claimed, and return whether this process did."""
        if self.is_done:
            return False
        with self.shared.claims.taken(self.name) as claim:
            if claim is None or self.is_done:
                return False
            self._run(claim)
        return True

    def _run(self, claim: Claim) -> None:
        entry = self.entry()
        shard, entry.documents = _OpenShard(self.shared), 0
        chunks = self._chunks(entry)
        for _ in range(sum(last - first for _, first, last in entry.spans)):
            next(chunks)
        while some := list(islice(chunks, BATCH)):
            rows = self.shared.encoder([chunk for chunk, _ in some])
            for (chunk, mark), ids in zip(some, rows, strict=True):
                shard.add(chunk, ids, mark)
                if shard.size >= self.shared.shard:
                    self._finish(shard, entry, claim)
                    shard = _OpenShard(self.shared)
        if self.input.glance() != self.glance:
            raise DataError(
                f"{self.input.name}: it changed while it was read; start again when nothing writes to it."
            )
        entry.is_complete = True
        self._finish(shard, entry, claim)

    def _chunks(self, entry: Entry) -> Iterator[tuple[DocumentChunk, int]]:
        """Yield the chunks, each with the hash of the beginning of its document, and count documents."""
        mark, begins = 0, True
        for chunk in self.input.pieces():
            mark = document_mark(chunk.text) if begins else mark
            begins = chunk.is_last
            entry.documents += chunk.is_last
            yield chunk, mark

    def _finish(self, shard: "_OpenShard", entry: Entry, claim: Claim) -> None:
        """Write a shard, then what is finished with it."""
        if not claim.is_held:
            raise DataError(
                f"{self.input.name}: this process was suspended for so long that another one took over; start it "
                f"again to continue."
            )
        name = f"{MOST_SHARDS * self.number + len(entry.spans):09d}"
        if shard.rows:
            shard.write(name)
            entry.spans = [*entry.spans, (name, 0, len(shard.rows))]
        text = json.dumps(asdict(entry), ensure_ascii=False)
        write_aside(self.path, lambda file: file.write(text.encode("utf-8", "surrogateescape")))
        if shard.rows:
            self.shared.log(input=self.input.name, shard=name, tokens=shard.size)


class _OpenShard:
    """The ids and chunks of a shard that is not written yet."""

    def __init__(self, shared: SharedWork) -> None:
        self.shared, self.size = shared, 0
        self.ids: list[NDArray[np.generic]] = []
        self.rows: list[tuple[int, int, int, int, int, bool]] = []

    def add(self, chunk: DocumentChunk, ids: list[int], mark: int) -> None:
        """Append a chunk."""
        self.ids.append(np.asarray(ids, self.shared.type))
        self.size += len(ids)
        self.rows.append(chunk_row(self.size, chunk, mark))

    def write(self, name: str) -> None:
        """Write the files of the shard."""
        write_array(ids_file(self.shared.folder, name), np.concatenate(self.ids))
        write_array(chunks_file(self.shared.folder, name), np.array(self.rows, CHUNK_FIELDS))


def document_mark(text: str) -> int:
    """Return the hash of the beginning of a document."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest())


def chunk_row(end: int, chunk: DocumentChunk, mark: int) -> tuple[int, int, int, int, int, bool]:
    """Return the fields of a chunk that ends there in its shard."""
    text = chunk.text
    return end, len(text.encode()), len(text.split()), text.count("\n"), mark, chunk.is_last

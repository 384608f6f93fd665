"""Tokenization into memory-mapped shards: written atomically, reused, and extended by new or changed inputs."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import CHUNK_FIELDS, Corpus, Segment, Shards, chunks_file, damaged, ids_file
from regard.data.corpus.encoders import ChunkEncoder, DocumentEncoder
from regard.data.corpus.manifest import Entry, Manifest, kept_if_used, locked, read_manifest, shard_size, write_array
from regard.data.corpus.sentences import SentenceEncoder
from regard.data.corpus.together import SharedWork, chunk_row, document_mark
from regard.data.prefetch import Prefetcher
from regard.data.settings.text import SentenceRule, TextSource
from regard.data.sources.documents import DocumentChunk
from regard.data.sources.text_files import Input, find_inputs, nothing_in
from regard.errors import DataError
from regard.processes import world_size
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

SHARD = 2**24
"""Maximum shard size in tokens."""

FIRST = 2**19
"""Size of the first shards in tokens. Later shards hold a quarter of the tokens done: a killed process loses at most
a fifth of its work, and a large text has few files."""

BATCH = 128
"""Chunks encoded together, on all cores."""

PREFETCHED = 4
"""Batches read ahead, and batches encoded ahead."""


class Work(NamedTuple):
    """A chunk to encode, or (chunk None) the end of an input."""

    name: str
    entry: Entry
    chunk: DocumentChunk | None
    mark: int = 0
    consumed: int = 0
    """Bytes of the input read since the previous item."""


def tokenize(
    source: TextSource,
    tokenizer: Tokenizer,
    folder: Path,
    progress: Progress = SILENT,
    title: str = "tokenize",
    shard_tokens: int = SHARD,
    sentences: SentenceRule | None = None,
    encoder: DocumentEncoder | None = None,
    share: bool | None = None,
) -> Corpus:
    """Return a text source as token ids, EOS after each document, cached in `folder`.

    Only new or changed inputs are tokenized. The processes of a run share a new text's inputs, as do any that `share`
    it; otherwise a second process waits for the first. With a rule for `sentences`, their
    boundaries are marked (see `SentenceEncoder`); a custom `encoder` replaces both.
    """
    inputs = find_inputs(source)
    if encoder is None:
        encoder = ChunkEncoder(tokenizer) if sentences is None else SentenceEncoder(tokenizer, sentences)
    reading = {"documents": source.documents, "field": source.field, **encoder.reading}
    try:
        with kept_if_used(folder):
            if (world_size() > 1 if share is None else share) and source.max_rows is None:
                SharedWork(folder, encoder, reading, min(SHARD, shard_tokens)).run(inputs, progress, title)
            with locked(folder, progress):
                manifest = read_manifest(folder, hashlib.sha256(tokenizer.to_json().encode()).hexdigest(), reading)
                _Build(source, inputs, manifest, folder, shard_tokens).run(encoder, progress, title)
            corpus = _corpus(folder, manifest, inputs)
            if not corpus.segments:
                raise nothing_in(source)
    except OSError as error:  # errors of reading are DataErrors already
        raise DataError(
            f"{folder}: the tokenized text cannot be written ({error.strerror}); what is finished is kept, so make "
            f"room or choose another folder, and start again."
        ) from None
    return corpus


def _corpus(folder: Path, manifest: Manifest, inputs: list[Input]) -> Corpus:
    """Return the stream of all inputs in their given order, whatever the order of tokenization."""
    shards = Shards(folder)
    entries = [manifest.inputs[each.name] for each in inputs if each.name in manifest.inputs]
    segments: list[Segment] = []
    for name, first, last in (span for entry in entries for span in entry.spans):
        ends = shards.chunks(name)["end"]
        if not 0 <= first < last <= len(ends) or int(ends[-1]) > shards.size(name):
            raise damaged(chunks_file(folder, name))
        segments.append(Segment(name, int(ends[first - 1]) if first else 0, int(ends[last - 1])))
    contents = [manifest.tokenizer, manifest.reading, [(entry.sha256, entry.limit) for entry in entries]]
    return Corpus(shards, segments, hashlib.sha256(repr(contents).encode()).hexdigest())


class _Build:
    """Updates the shards of a folder to match the inputs."""

    def __init__(
        self, source: TextSource, inputs: list[Input], manifest: Manifest, folder: Path, shard_tokens: int
    ) -> None:
        self.inputs, self.manifest, self.folder, self.shard_tokens = inputs, manifest, folder, shard_tokens
        self.count = source.max_rows
        self.wanted: dict[str, Entry] = {}
        """Entries of the inputs read so far; owned by the reading thread."""
        self.ids: list[NDArray[np.generic]] = []
        self.rows: list[tuple[int, int, int, int, int, bool]] = []
        self.size, self.done = 0, 0
        """Tokens in the open shard, and in finished shards."""
        self.firsts: list[tuple[Entry, int]] = []
        """Inputs with chunks in the open shard, and the first chunk of each."""
        self.ended: list[Entry] = []

    def run(self, encoder: DocumentEncoder, progress: Progress, title: str) -> None:
        """Tokenize all missing inputs."""
        manifest, folder, tokenizer = self.manifest, self.folder, encoder.tokenizer
        glances = {name: entry.glance for name, entry in manifest.inputs.items()}
        entries = {each.name: self._known(each) for each in self.inputs}
        known = manifest.inputs = {name: entry for name, entry in entries.items() if entry is not None}
        is_done = set(entries) == {name for name, entry in known.items() if entry.is_complete}
        if self.count is None and is_done and glances == {name: entry.glance for name, entry in known.items()}:
            return
        manifest.sweep(folder)  # first, to free disk space
        manifest.save(folder)
        sizes = [each.size for each in self.inputs if each.name not in known or not known[each.name].is_complete]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        dtype = np.uint16 if max(*tokenizer.specials, *tokenizer.vocabulary) < 2**16 else np.uint32
        started, tokens = time.perf_counter(), 0
        with (
            progress.bar(title, total) as bar,
            closing(Prefetcher(_batches(self._work(dict(known))), PREFETCHED)) as read,
            closing(Prefetcher(_encoded(read, encoder), PREFETCHED)) as encoded,
        ):
            for batch, rows in encoded:
                self._add(batch, [np.asarray(ids, dtype) for ids in rows])
                tokens += sum(map(len, rows))
                consumed = sum(work.consumed for work in batch)
                bar.advance(consumed, tokens_per_second=tokens / (time.perf_counter() - started))
        self._finish_shard()
        manifest.inputs = self.wanted
        manifest.sweep(folder)
        manifest.save(folder)

    def _known(self, each: Input) -> Entry | None:
        """Return the entry of an input; None if it is new or changed."""
        entry, glance = self.manifest.inputs.get(each.name), each.glance()
        if entry is None or entry.glance == glance:
            return entry
        if each.fingerprint() != entry.sha256:
            return None
        entry.glance = glance  # touched, but unchanged
        return entry

    def _work(self, known: dict[str, Entry]) -> Iterator[Work]:
        """Yield the chunks that are not in finished shards yet."""
        left = self.count
        for each in self.inputs:
            if left == 0:
                return
            entry = known.get(each.name)
            if entry is None or entry.limit != left:
                entry = Entry(each.glance(), each.fingerprint(), left)
            self.wanted[each.name] = entry
            if not entry.is_complete:
                yield from self._chunks(each, entry)
            if left is not None:
                left -= entry.documents

    def _chunks(self, each: Input, entry: Entry) -> Iterator[Work]:
        done = sum(last - first for _, first, last in entry.spans)
        entry.documents, mark, begins, consumed, reported = 0, 0, True, 0, 0
        for number, chunk in enumerate(each.pieces()):
            if begins:
                mark = document_mark(chunk.text)
            begins = chunk.is_last
            entry.documents += chunk.is_last
            consumed += chunk.consumed
            if number >= done:
                yield Work(each.name, entry, chunk, mark, consumed - reported)
                reported = consumed
            if chunk.is_last and entry.documents == entry.limit:
                break
        if each.glance() != entry.glance:
            raise DataError(f"{each.name}: it changed while it was read; start again when nothing writes to it.")
        yield Work(each.name, entry, None, consumed=(each.size or consumed) - reported)

    def _add(self, batch: list[Work], encoded: list[NDArray[np.generic]]) -> None:
        """Append chunks to the open shard, and finish it when it is full."""
        rows = iter(encoded)
        for name, entry, chunk, mark, _ in batch:
            self.manifest.inputs[name] = entry
            if chunk is None:
                self.ended.append(entry)
                continue
            if not self.firsts or self.firsts[-1][0] is not entry:
                self.firsts.append((entry, len(self.rows)))
            self.ids.append(next(rows))
            self.size += len(self.ids[-1])
            self.rows.append(chunk_row(self.size, chunk, mark))
            if self.size >= min(self.shard_tokens, max(FIRST, self.done // 4)):
                self._finish_shard()

    def _finish_shard(self) -> None:
        """Write the open shard, then the manifest that lists it."""
        manifest, folder = self.manifest, self.folder
        if self.rows:
            name = f"{manifest.made:06d}"
            write_array(ids_file(folder, name), np.concatenate(self.ids))
            write_array(chunks_file(folder, name), np.array(self.rows, CHUNK_FIELDS))
            manifest.made += 1
            self.done += self.size
            manifest.shards[name] = shard_size(folder, name) or 0
            ends = [first for _, first in self.firsts[1:]] + [len(self.rows)]
            for (entry, first), last in zip(self.firsts, ends, strict=True):
                entry.spans.append((name, first, last))
        for entry in self.ended:
            entry.is_complete = True
        manifest.save(folder)
        self.ids, self.rows, self.size, self.firsts, self.ended = [], [], 0, [], []


def _batches(work: Iterator[Work]) -> Iterator[list[Work]]:
    batch: list[Work] = []
    for each in work:
        batch.append(each)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _encoded(batches: Iterator[list[Work]], encoder: DocumentEncoder) -> Iterator[tuple[list[Work], list[list[int]]]]:
    for batch in batches:
        yield batch, encoder([work.chunk for work in batch if work.chunk])

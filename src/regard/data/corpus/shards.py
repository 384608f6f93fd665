"""Running text tokenized once, into memory-mapped shards that are re-used, added to, and whole or absent."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import PIECE_FIELDS, Corpus, Segment, Shards, damaged, ids_file, pieces_file
from regard.data.corpus.manifest import Entry, Manifest, kept_if_used, locked, read_manifest, shard_size, write_array
from regard.data.corpus.sentences import SentenceEncoder
from regard.data.prefetch import Prefetcher
from regard.data.settings.text import SentenceRule, TextSource
from regard.data.sources.documents import DocumentChunk
from regard.data.sources.text_files import Input, find_inputs, nothing_in
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

SHARD = 2**24
"""Tokens of a shard at most."""

FIRST = 2**19
"""Tokens of the first shards. Later ones hold a quarter of what is done: a kill costs a fifth of the work at most,
and a large text is not in many files."""

BATCH = 128
"""Pieces that are encoded together, on all cores."""

MADE_READY = 4
"""Batches that are read, and batches that are encoded, ahead of what is written."""


class DocumentEncoder(Protocol):
    """Turns pieces into ids."""

    tokenizer: Tokenizer
    reading: dict[str, Any]
    """What a folder of shards must have in common to be used again, besides the tokenizer."""

    def __call__(self, pieces: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each piece; behind the last of a document stands the end token."""


class PieceEncoder:
    """Text and nothing else, and end tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.reading: dict[str, Any] = {}

    def __call__(self, pieces: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each piece; behind the last of a document stands the end token."""
        rows = self.tokenizer.encode_batch([piece.text for piece in pieces])
        return [
            [*ids, self.tokenizer.eos_id] if piece.is_last else ids for piece, ids in zip(pieces, rows, strict=True)
        ]


class Work(NamedTuple):
    """A piece to encode, or (piece None) the end of an input."""

    name: str
    entry: Entry
    piece: DocumentChunk | None
    mark: int = 0
    consumed: int = 0
    """Bytes of the input read since the work before."""


def tokenize(
    place: TextSource,
    tokenizer: Tokenizer,
    folder: Path,
    progress: Progress = SILENT,
    title: str = "tokenize",
    shard_tokens: int = SHARD,
    sentences: SentenceRule | None = None,
    encoder: DocumentEncoder | None = None,
) -> Corpus:
    """Return the text of a place as ids, an end token behind each document, out of a folder kept for it.

    Only what is new or changed since the last time is tokenized. A second process waits for the first. Where it is
    said how to tell sentences apart, they are marked (see `SentenceEncoder`); another `encoder` has its own ways.
    """
    inputs = find_inputs(place)
    if encoder is None:
        encoder = PieceEncoder(tokenizer) if sentences is None else SentenceEncoder(tokenizer, sentences)
    reading = {"documents": place.documents, "field": place.field, **encoder.reading}
    try:
        with kept_if_used(folder):
            with locked(folder, progress):
                book = read_manifest(folder, hashlib.sha256(tokenizer.to_json().encode()).hexdigest(), reading)
                _Build(place, inputs, book, folder, shard_tokens).run(encoder, progress, title)
            corpus = _corpus(folder, book, inputs)
            if not corpus.segments:
                raise nothing_in(place)
    except OSError as error:  # what goes wrong while reading says so itself
        raise DataError(
            f"{folder}: the tokenized text cannot be written ({error.strerror}); what is finished is kept, so make "
            f"room or choose another place, and start again."
        ) from None
    return corpus


def _corpus(folder: Path, book: Manifest, inputs: list[Input]) -> Corpus:
    """Return the stream of all inputs in their order, whatever the order in which they were tokenized."""
    shards = Shards(folder)
    entries = [book.inputs[each.name] for each in inputs if each.name in book.inputs]
    segments: list[Segment] = []
    for name, first, last in (span for entry in entries for span in entry.spans):
        ends = shards.pieces(name)["end"]
        if not 0 <= first < last <= len(ends) or int(ends[-1]) > shards.size(name):
            raise damaged(pieces_file(folder, name))
        segments.append(Segment(name, int(ends[first - 1]) if first else 0, int(ends[last - 1])))
    contents = [book.tokenizer, book.reading, [(entry.sha256, entry.limit) for entry in entries]]
    return Corpus(shards, segments, hashlib.sha256(repr(contents).encode()).hexdigest())


class _Build:
    """Brings the shards of a folder up to date with the inputs."""

    def __init__(
        self, place: TextSource, inputs: list[Input], book: Manifest, folder: Path, shard_tokens: int
    ) -> None:
        self.inputs, self.book, self.folder, self.shard_tokens = inputs, book, folder, shard_tokens
        self.count = place.max_rows
        self.wanted: dict[str, Entry] = {}
        """What is known of the inputs that were reached; belongs to the thread that reads."""
        self.ids: list[NDArray[Any]] = []
        self.rows: list[tuple[int, int, int, int, int, bool]] = []
        self.size, self.done = 0, 0
        """Tokens of the open shard, and of those that are finished."""
        self.firsts: list[tuple[Entry, int]] = []
        """The inputs with pieces in the open shard, and the first piece of each."""
        self.ended: list[Entry] = []

    def run(self, encoder: DocumentEncoder, progress: Progress, title: str) -> None:
        """Tokenize what is missing."""
        book, folder, tokenizer = self.book, self.folder, encoder.tokenizer
        glances = {name: entry.glance for name, entry in book.inputs.items()}
        found = {each.name: self._known(each) for each in self.inputs}
        known = book.inputs = {name: entry for name, entry in found.items() if entry is not None}
        is_done = set(found) == {name for name, entry in known.items() if entry.is_complete}
        if self.count is None and is_done and glances == {name: entry.glance for name, entry in known.items()}:
            return
        book.sweep(folder)  # first of all: what is no longer needed makes room
        book.save(folder)
        sizes = [each.size for each in self.inputs if each.name not in known or not known[each.name].is_complete]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        dtype = np.uint16 if max(*tokenizer.specials, *tokenizer.vocabulary) < 2**16 else np.uint32
        started, tokens = time.perf_counter(), 0
        with (
            progress.bar(title, total) as bar,
            closing(Prefetcher(_batches(self._work(dict(known))), MADE_READY)) as read,
            closing(Prefetcher(_encoded(read, encoder), MADE_READY)) as encoded,
        ):
            for batch, rows in encoded:
                self._add(batch, [np.asarray(ids, dtype) for ids in rows])
                tokens += sum(map(len, rows))
                consumed = sum(work.consumed for work in batch)
                bar.advance(consumed, tokens_per_second=tokens / (time.perf_counter() - started))
        self._finish_shard()
        book.inputs = self.wanted
        book.sweep(folder)
        book.save(folder)

    def _known(self, each: Input) -> Entry | None:
        """Return what was made of an input, if it is as it was then."""
        entry, glance = self.book.inputs.get(each.name), each.glance()
        if entry is None or entry.glance == glance:
            return entry
        if each.fingerprint() != entry.sha256:
            return None
        entry.glance = glance  # touched, but the same
        return entry

    def _work(self, known: dict[str, Entry]) -> Iterator[Work]:
        """Yield the pieces that are not in finished shards yet."""
        left = self.count
        for each in self.inputs:
            if left == 0:
                return
            entry = known.get(each.name)
            if entry is None or entry.limit != left:
                entry = Entry(each.glance(), each.fingerprint(), left)
            self.wanted[each.name] = entry
            if not entry.is_complete:
                yield from self._pieces(each, entry)
            if left is not None:
                left -= entry.documents

    def _pieces(self, each: Input, entry: Entry) -> Iterator[Work]:
        done = sum(last - first for _, first, last in entry.spans)
        entry.documents, mark, begins, consumed, told = 0, 0, True, 0, 0
        for number, piece in enumerate(each.pieces()):
            if begins:
                mark = int.from_bytes(hashlib.blake2b(piece.text.encode(), digest_size=4).digest())
            begins = piece.is_last
            entry.documents += piece.is_last
            consumed += piece.consumed
            if number >= done:
                yield Work(each.name, entry, piece, mark, consumed - told)
                told = consumed
            if piece.is_last and entry.documents == entry.limit:
                break
        if each.glance() != entry.glance:
            raise DataError(f"{each.name}: it has changed while it was read; start again when it is at rest.")
        yield Work(each.name, entry, None, consumed=(each.size or consumed) - told)

    def _add(self, batch: list[Work], encoded: list[NDArray[Any]]) -> None:
        """Put pieces into the open shard, and finish it when it is full."""
        rows = iter(encoded)
        for name, entry, piece, mark, _ in batch:
            self.book.inputs[name] = entry
            if piece is None:
                self.ended.append(entry)
                continue
            if not self.firsts or self.firsts[-1][0] is not entry:
                self.firsts.append((entry, len(self.rows)))
            self.ids.append(next(rows))
            self.size += len(self.ids[-1])
            text = piece.text
            counts = len(text.encode()), len(text.split()), text.count("\n")
            self.rows.append((self.size, *counts, mark, piece.is_last))
            if self.size >= min(self.shard_tokens, max(FIRST, self.done // 4)):
                self._finish_shard()

    def _finish_shard(self) -> None:
        """Write the open shard, then the manifest that makes it count."""
        book, folder = self.book, self.folder
        if self.rows:
            name = f"{book.made:06d}"
            write_array(ids_file(folder, name), np.concatenate(self.ids))
            write_array(pieces_file(folder, name), np.array(self.rows, PIECE_FIELDS))
            book.made += 1
            self.done += self.size
            book.shards[name] = shard_size(folder, name) or 0
            ends = [first for _, first in self.firsts[1:]] + [len(self.rows)]
            for (entry, first), last in zip(self.firsts, ends, strict=True):
                entry.spans.append((name, first, last))
        for entry in self.ended:
            entry.is_complete = True
        book.save(folder)
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
        yield batch, encoder([work.piece for work in batch if work.piece])

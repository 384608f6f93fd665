"""Tokenized text on disk as one memory-mapped stream of token ids."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError

OPEN = 128
"""Maximum number of open shards: each takes a file handle."""

CHUNK_FIELDS = np.dtype(
    [
        ("end", np.uint32),  # in the shard's ids
        ("bytes", np.uint32),
        ("words", np.uint32),
        ("lines", np.uint32),
        ("mark", np.uint32),  # hash of the beginning of its document
        ("is_last", np.bool_),  # of its document: its last id is EOS
    ]
)
ID_TYPES = (np.dtype(np.uint16), np.dtype(np.uint32))
Chunks = NDArray[Any]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class TextCounts:
    """Sizes of a text; tokens include one EOS per document, bytes are those of UTF-8."""

    documents: int
    tokens: int
    bytes: int
    words: int
    """Words separated by white space."""
    lines: int
    """Line feeds."""


@dataclass(frozen=True)
class Segment:
    """Ids from `begin` to `end` of a shard; both are chunk boundaries."""

    shard: str
    begin: int
    end: int


class Shards:
    """The arrays of a folder by shard name, memory-mapped on first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids = lru_cache(OPEN)(lambda name: self._open(ids_file(folder, name), ID_TYPES))
        self.chunks = lru_cache(OPEN)(lambda name: self._open(chunks_file(folder, name), (CHUNK_FIELDS,)))

    def size(self, name: str) -> int:
        """Return the number of ids in a shard, without keeping it open."""
        return len(self._open(ids_file(self.folder, name), ID_TYPES))

    def _open(self, path: Path, types: tuple[np.dtype[Any], ...]) -> NDArray[Any]:
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r") if path.is_file() else np.empty(())
        except Exception:  # a header is parsed as Python source, which can raise many errors
            raise damaged(path) from None
        if array.ndim != 1 or array.dtype not in types:
            raise damaged(path)
        return array


def damaged(path: Path) -> DataError:
    """Return the error for a missing or damaged part of a corpus."""
    return DataError(
        f"{path}: this part of the tokenized text is missing or damaged; delete it and start again to rebuild it."
    )


def ids_file(folder: Path, name: str) -> Path:
    """Return the path of a shard's ids."""
    return folder / f"{name}.ids.npy"


def chunks_file(folder: Path, name: str) -> Path:
    """Return the path of the ends and counts of a shard's chunks."""
    return folder / f"{name}.pieces.npy"


class Corpus:
    """A stream of ids: segments of shards, concatenated."""

    def __init__(self, shards: Shards, segments: Iterable[Segment], fingerprint: str) -> None:
        self.shards = shards
        self.segments = joined(segments)
        sizes = [segment.end - segment.begin for segment in self.segments]
        self.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        self.fingerprint = fingerprint
        """A hash of the text, the tokenizer and the selection."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""
        ids = np.empty(end - begin, np.int64)
        number = int(np.searchsorted(self.starts, begin, "right")) - 1
        position = begin
        while position < end:
            segment, start = self.segments[number], int(self.starts[number])
            until = min(end, int(self.starts[number + 1]))
            shift = segment.begin - start
            ids[position - begin : until - begin] = self.shards.ids(segment.shard)[position + shift : until + shift]
            position, number = until, number + 1
        return ids

    def gather(self, begins: Ids, ends: Ids) -> Ids:
        """Return the ids of many ranges, concatenated."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)]).tolist()
        ids = np.empty(offsets[-1], np.int64)
        numbers = np.searchsorted(self.starts, begins, "right") - 1
        for begin, end, number, offset in zip(begins.tolist(), ends.tolist(), numbers.tolist(), offsets):
            segment, start = self.segments[number], int(self.starts[number])
            if end <= start + segment.end - segment.begin:  # within one segment, as nearly all are
                shift = segment.begin - start
                ids[offset : offset + end - begin] = self.shards.ids(segment.shard)[begin + shift : end + shift]
            else:
                ids[offset : offset + end - begin] = self.read(begin, end)
        return ids

    def chunks(self) -> Iterator[tuple[Ids, Chunks]]:
        """Yield (end of each chunk in this stream, its CHUNK_FIELDS), a segment at a time."""
        shard, table, ends = "", np.empty(0, CHUNK_FIELDS), np.empty(0, np.uint32)
        for segment, start in zip(self.segments, self.starts.tolist()):
            if segment.shard != shard:
                shard, table = segment.shard, self.shards.chunks(segment.shard)
                ends = np.ascontiguousarray(table["end"])
            first, last = np.searchsorted(ends, np.array([segment.begin, segment.end], np.uint32), "right")
            rows = np.asarray(table[first:last])
            yield rows["end"].astype(np.int64) + (start - segment.begin), rows

    def documents(self) -> Iterator[tuple[int, int]]:
        """Yield (begin, end) of each document, EOS included."""
        begin = 0
        for ends, rows in self.chunks():
            for end in ends[rows["is_last"]].tolist():
                yield begin, end
                begin = end
        if begin < len(self):  # the rest of a document whose last part was held out
            yield begin, len(self)

    @cached_property
    def counts(self) -> TextCounts:
        """The sizes of this text."""
        sums = dict.fromkeys(("bytes", "words", "lines"), 0)
        documents, is_last = 0, True
        for _, rows in self.chunks():
            documents += int(rows["is_last"].sum())
            is_last = bool(rows["is_last"][-1])
            for name in sums:
                sums[name] += int(rows[name].sum(dtype=np.int64))
        return TextCounts(documents + (not is_last), len(self), **sums)

    @cached_property
    def text_hash(self) -> str:
        """A hash of the text that does not depend on the tokenizer: of beginnings and sizes of its documents."""
        digest = hashlib.sha256()
        for document in self.document_sizes():
            digest.update(repr(document[2:]).encode())
        return digest.hexdigest()

    def document_sizes(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield (begin, end, bytes, words, hash of its beginning) of each document, EOS included."""
        begin, size, words, mark, end = 0, 0, 0, 0, 0
        for ends, rows in self.chunks():
            for end, row in zip(ends.tolist(), rows.tolist(), strict=True):
                _, more, further, _, mark, is_last = row
                size, words = size + more, words + further
                if is_last:
                    yield begin, end, size, words, mark
                    begin, size, words = end, 0, 0
        if begin < len(self):  # the rest of a document whose last part was held out
            yield begin, end, size, words, mark

    def select(self, ranges: Sequence[tuple[int, int]]) -> "Corpus":
        """Return some ranges (begin, end) of this stream as a corpus; all are bounded by chunks."""
        segments = [segment for begin, end in ranges for segment in self._segments(begin, end)]
        name = hashlib.sha256(f"{self.fingerprint} {ranges}".encode()).hexdigest()
        return Corpus(self.shards, segments, name)

    def _segments(self, begin: int, end: int) -> Iterator[Segment]:
        number = int(np.searchsorted(self.starts, begin, "right")) - 1
        while begin < end:
            segment, start = self.segments[number], int(self.starts[number])
            until = min(end, int(self.starts[number + 1]))
            yield Segment(segment.shard, segment.begin + begin - start, segment.begin + until - start)
            begin, number = until, number + 1


def joined(segments: Iterable[Segment]) -> list[Segment]:
    """Return the same stream with adjacent segments merged."""
    merged: list[Segment] = []
    for segment in segments:
        if merged and merged[-1].shard == segment.shard and merged[-1].end == segment.begin:
            segment = Segment(segment.shard, merged.pop().begin, segment.end)
        if segment.end > segment.begin:
            merged.append(segment)
    return merged

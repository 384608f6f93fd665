"""Tokenized text on disk, seen as one long stream of ids; only what is asked for is in memory."""

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
"""Shards held open at once: each takes a file handle."""

PIECE_FIELDS = np.dtype(
    [
        ("end", np.uint32),  # in the shard's ids
        ("bytes", np.uint32),
        ("words", np.uint32),
        ("lines", np.uint32),
        ("mark", np.uint32),  # drawn from the beginning of its document, by a hash
        ("is_last", np.bool_),  # of its document: the last of its ids is the end token
    ]
)
ID_TYPES = (np.dtype(np.uint16), np.dtype(np.uint32))
Pieces = NDArray[Any]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class TextCounts:
    """How much text there is; tokens include one end token a document, bytes are those of UTF-8."""

    documents: int
    tokens: int
    bytes: int
    words: int
    """What white space parts."""
    lines: int
    """Line feeds."""


@dataclass(frozen=True)
class Segment:
    """Ids from `begin` to `end` of a shard; both are ends of pieces."""

    shard: str
    begin: int
    end: int


class Shards:
    """The arrays of a folder by name, mapped into memory when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids = lru_cache(OPEN)(lambda name: self._open(ids_file(folder, name), ID_TYPES))
        self.pieces = lru_cache(OPEN)(lambda name: self._open(pieces_file(folder, name), (PIECE_FIELDS,)))

    def size(self, name: str) -> int:
        """Return how many ids a shard has; it is not held open for it."""
        return len(self._open(ids_file(self.folder, name), ID_TYPES))

    def _open(self, path: Path, types: tuple[np.dtype[Any], ...]) -> NDArray[Any]:
        try:
            found: NDArray[Any] = np.load(path, mmap_mode="r") if path.is_file() else np.empty(())
        except Exception:  # a header is parsed as Python is, and may fail in as many ways
            raise damaged(path) from None
        if found.ndim != 1 or found.dtype not in types:
            raise damaged(path)
        return found


def damaged(path: Path) -> DataError:
    """Return what to say about a part of a corpus that is not what was written."""
    return DataError(
        f"{path}: this part of the tokenized text is gone or damaged; delete it and start again, and it is made anew."
    )


def ids_file(folder: Path, name: str) -> Path:
    """Return where a shard's ids are."""
    return folder / f"{name}.ids.npy"


def pieces_file(folder: Path, name: str) -> Path:
    """Return where the ends and counts of a shard's pieces are."""
    return folder / f"{name}.pieces.npy"


class Corpus:
    """Segments of shards, laid end to end."""

    def __init__(self, shards: Shards, segments: Iterable[Segment], fingerprint: str) -> None:
        self.shards = shards
        self.segments = joined(segments)
        sizes = [segment.end - segment.begin for segment in self.segments]
        self.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        self.fingerprint = fingerprint
        """A hash of the text, the tokenizer and what was selected."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""
        found = np.empty(end - begin, np.int64)
        number = int(np.searchsorted(self.starts, begin, "right")) - 1
        place = begin
        while place < end:
            segment, start = self.segments[number], int(self.starts[number])
            until = min(end, int(self.starts[number + 1]))
            shift = segment.begin - start
            found[place - begin : until - begin] = self.shards.ids(segment.shard)[place + shift : until + shift]
            place, number = until, number + 1
        return found

    def gather(self, begins: Ids, ends: Ids) -> Ids:
        """Return the ids of many stretches, laid end to end."""
        places = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)]).tolist()
        found = np.empty(places[-1], np.int64)
        numbers = np.searchsorted(self.starts, begins, "right") - 1
        for begin, end, number, place in zip(begins.tolist(), ends.tolist(), numbers.tolist(), places):
            segment, start = self.segments[number], int(self.starts[number])
            if end <= start + segment.end - segment.begin:  # as nearly all do
                shift = segment.begin - start
                found[place : place + end - begin] = self.shards.ids(segment.shard)[begin + shift : end + shift]
            else:
                found[place : place + end - begin] = self.read(begin, end)
        return found

    def pieces(self) -> Iterator[tuple[Ids, Pieces]]:
        """Yield where pieces end in this stream and what is known of them, a segment at a time."""
        shard, known, ends = "", np.empty(0, PIECE_FIELDS), np.empty(0, np.uint32)
        for segment, start in zip(self.segments, self.starts.tolist()):
            if segment.shard != shard:
                shard, known = segment.shard, self.shards.pieces(segment.shard)
                ends = np.ascontiguousarray(known["end"])
            first, last = np.searchsorted(ends, np.array([segment.begin, segment.end], np.uint32), "right")
            rows = np.asarray(known[first:last])
            yield rows["end"].astype(np.int64) + (start - segment.begin), rows

    def documents(self) -> Iterator[tuple[int, int]]:
        """Yield where each document begins and ends, its end token included."""
        begin = 0
        for ends, rows in self.pieces():
            for end in ends[rows["is_last"]].tolist():
                yield begin, end
                begin = end
        if begin < len(self):  # what is left of a document whose last part was carved out
            yield begin, len(self)

    @cached_property
    def counts(self) -> TextCounts:
        """How much text there is."""
        sums = dict.fromkeys(("bytes", "words", "lines"), 0)
        documents, is_last = 0, True
        for _, rows in self.pieces():
            documents += int(rows["is_last"].sum())
            is_last = bool(rows["is_last"][-1])
            for name in sums:
                sums[name] += int(rows[name].sum(dtype=np.int64))
        return TextCounts(documents + (not is_last), len(self), **sums)

    def select(self, ranges: Sequence[tuple[int, int]]) -> "Corpus":
        """Return some stretches (begin, end) of this stream as one of its own; all begin and end with pieces."""
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
    """Return the same stream in as few segments as can be."""
    found: list[Segment] = []
    for segment in segments:
        if found and found[-1].shard == segment.shard and found[-1].end == segment.begin:
            segment = Segment(segment.shard, found.pop().begin, segment.end)
        if segment.end > segment.begin:
            found.append(segment)
    return found

"""Bounded decompression: gzip files are decompressed while they are read, up to a size limit."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from regard.config.limits import max_text_bytes
from regard.data.sources.lines import GZIP, MAX_GZIP_RATIO, decompresses_to_too_much


@contextmanager
def open_unpacked(path: Path, chunk: int) -> Iterator[BufferedReader]:
    """Open a file, gzipped or not, with a buffer of `chunk` bytes; a decompression bomb is refused."""
    with path.open("rb") as raw:
        if raw.peek(2)[:2] == GZIP:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield BufferedReader(_Unpacked(path, raw, unpacked), chunk)
        else:
            yield raw


class _Unpacked(RawIOBase):
    """Decompressed bytes of a gzip file, counted as they are read."""

    def __init__(self, path: Path, packed: BinaryIO, unpacked: gzip.GzipFile) -> None:
        self.path, self.packed, self.unpacked = path, packed, unpacked
        self.size, self.limit = 0, max_text_bytes()

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, and return the number of bytes read."""
        count = self.unpacked.readinto(buffer)
        self.size += count
        if self.size > self.limit and self.size > MAX_GZIP_RATIO * self.packed.tell():
            raise decompresses_to_too_much(self.path, self.limit)
        return count

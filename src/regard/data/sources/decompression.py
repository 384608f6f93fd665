"""Files of bytes that may be packed, unpacked on the way and within limits."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from regard.config.limits import max_text_bytes
from regard.data.sources.lines import GZIP, USUAL_RATIO, unpacks_to_too_much


@contextmanager
def open_unpacked(path: Path, chunk: int) -> Iterator[BufferedReader]:
    """Open a file, packed or not, for reading so many bytes at once; one that is made to fill memory is refused."""
    with path.open("rb") as raw:
        if raw.peek(2)[:2] == GZIP:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield BufferedReader(_Unpacked(path, raw, unpacked), chunk)
        else:
            yield raw


class _Unpacked(RawIOBase):
    """What a packed file holds, counted as it is read."""

    def __init__(self, path: Path, packed: BinaryIO, unpacked: gzip.GzipFile) -> None:
        self.path, self.packed, self.unpacked = path, packed, unpacked
        self.size, self.limit = 0, max_text_bytes()

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some more."""
        count = self.unpacked.readinto(buffer)
        self.size += count
        if self.size > self.limit and self.size > USUAL_RATIO * self.packed.tell():
            raise unpacks_to_too_much(self.path, self.limit)
        return count

"""Text file reading: UTF-8, lines split at line feeds only, .gz decompressed on the fly, sizes bounded."""

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from regard.config.limits import LINE, TEXT, max_line_bytes, max_text_bytes, readable_size
from regard.errors import DataError

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")

BLOCK = 2**20
"""Decompressed bytes read at a time."""

MAX_GZIP_RATIO = 100
"""Text compresses about tenfold; a file above this ratio and above the size limit is a decompression bomb."""

BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""Byte-order marks of other encodings; longer ones first, as one begins with another."""


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn an error of reading a file into a DataError of one sentence."""
    try:
        yield
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" (looked in {Path.cwd()})"
        raise DataError(f"{path}: there is no such file{where}; check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder, not a file; name a file inside it.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{path}: the gzip data is damaged; fetch or compress the file again.") from None
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read ({error.strerror}).") from None


def read_bytes(path: Path) -> bytes:
    """Return the decompressed contents of a file; a larger one than the limit is refused while reading."""
    limit = max_text_bytes()
    with explaining(path), path.open("rb") as raw:
        file = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == GZIP else raw
        data = bytearray()
        while block := file.read(BLOCK):
            data += block
            if len(data) > limit:
                raise DataError(
                    f"{path}: it has more than {readable_size(limit)} of text, the most that is read at once; "
                    f"split it, or raise the limit with {TEXT}=BYTES in the environment."
                )
        return bytes(data)


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without a byte-order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error, data[:4]) from None


def not_utf8(path: Path, error: UnicodeDecodeError, head: bytes, lines: int = 0) -> DataError:
    """Return the error for bytes that are not UTF-8, `lines` lines into a file that begins with `head`."""
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return DataError(f"{path}: this is {encoding}; convert it with iconv -f {encoding.lower()} -t utf-8.")
    line = lines + error.object.count(b"\n", 0, error.start) + 1
    return DataError(
        f"{path}: line {line} is not UTF-8 (byte 0x{error.object[error.start]:02x}); convert the file, for example "
        f"with iconv -f latin1 -t utf-8."
    )


def text_blocks(path: Path) -> Iterator[tuple[str, int]]:
    """Yield a file's text (line ends as in `read_lines`) in blocks, each with the bytes of the file read for it."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines, held, reported, head, size, limit = 0, "", 0, b"", 0, max_text_bytes()
    with explaining(path), path.open("rb") as raw:
        is_packed = raw.peek(2)[:2] == GZIP
        file = gzip.GzipFile(fileobj=raw) if is_packed else raw
        while True:
            block = file.read(BLOCK)
            head = head or block[:4]
            size += len(block)
            if is_packed and size > limit and size > MAX_GZIP_RATIO * raw.tell():
                raise decompresses_to_too_much(path, limit)
            try:
                text = held + decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise not_utf8(path, error, head, lines) from None
            held = "\r" if block and text.endswith("\r") else ""  # its line feed may be in the next block
            text = text.removesuffix(held).replace("\r\n", "\n")
            lines += text.count("\n")
            yield text, raw.tell() - reported
            reported = raw.tell()
            if not block:
                return


def decompresses_to_too_much(path: Path, limit: int) -> DataError:
    """Return the error for a decompression bomb."""
    return DataError(
        f"{path}: it decompresses to more than {readable_size(limit)}, over {MAX_GZIP_RATIO} times its own size, "
        f"which no text does; if it is intended, raise the limit with {TEXT}=BYTES in the environment."
    )


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file; exotic separators such as U+2028 do not end a line."""
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()  # a final line feed starts no line
    return lines


def bounded_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a stream as they arrive, without line feeds; a line above the limit is refused."""
    limit, number = max_line_bytes(), 0
    while raw := stream.readline(limit + 1):
        number += 1
        if len(raw) > limit:
            raise too_long_a_line(name, number)
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}: line {number} is not UTF-8 (byte 0x{raw[error.start]:02x}).") from None


def too_long_a_line(name: Path | str, number: int) -> DataError:
    """Return the error for a line longer than the limit."""
    return DataError(
        f"{name}: line {number} is longer than {readable_size(max_line_bytes())}; end it with a line feed, or raise "
        f"the limit with {LINE}=BYTES in the environment."
    )


def is_text(text: str) -> bool:
    """Return whether a string has no lone surrogates, which come from bytes that are not UTF-8."""
    return text.isascii() or LONE_SURROGATE.search(text) is None


def lines_hash(lines: Iterable[str]) -> str:
    """Return the SHA-256 of lines, as of a UTF-8 file in which each ends with a line feed."""
    return hashlib.sha256("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")).hexdigest()

"""Lines of a text file as they are meant: UTF-8, split at line feeds only, .gz unpacked on the way."""

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.errors import DataError

GZIP = b"\x1f\x8b"
"""How packed files begin."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")

BLOCK = 2**20
"""Unpacked bytes read at once where a file need not fit in memory."""


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Say in a sentence why a file cannot be read."""
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
    """Return the unpacked contents of a file."""
    with explaining(path):
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == GZIP else data


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without a byte-order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error, data[:2]) from None


def not_utf8(path: Path, error: UnicodeDecodeError, head: bytes, lines: int = 0) -> DataError:
    """Return what to say about bytes that are no text, `lines` lines into a file that begins with `head`."""
    if head in (b"\xff\xfe", b"\xfe\xff"):
        return DataError(f"{path}: this is UTF-16; convert it with iconv -f utf-16 -t utf-8.")
    line = lines + error.object.count(b"\n", 0, error.start) + 1
    return DataError(
        f"{path}: line {line} is not UTF-8 (byte 0x{error.object[error.start]:02x}); convert the file, for example "
        f"with iconv -f latin1 -t utf-8."
    )


def text_blocks(path: Path) -> Iterator[tuple[str, int]]:
    """Yield a file's text as `read_lines` sees it in blocks, each with the bytes of the file read for it."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines, held, told, head = 0, "", 0, b""
    with explaining(path), path.open("rb") as raw:
        is_packed = raw.peek(2)[:2] == GZIP
        file = gzip.GzipFile(fileobj=raw) if is_packed else raw
        while True:
            block = file.read(BLOCK)
            head = head or block[:2]
            try:
                text = held + decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise not_utf8(path, error, head, lines) from None
            held = "\r" if block and text.endswith("\r") else ""  # its line feed may be in the next block
            text = text.removesuffix(held).replace("\r\n", "\n")
            lines += text.count("\n")
            yield text, raw.tell() - told
            told = raw.tell()
            if not block:
                return


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file; exotic separators such as U+2028 do not end a line."""
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()  # the line feed at the end of the file ends a line and starts none
    return lines


def is_text(text: str) -> bool:
    """Tell whether a string is whole: one made of bytes that were no UTF-8 holds lone surrogates."""
    return text.isascii() or LONE_SURROGATE.search(text) is None


def lines_hash(lines: Iterable[str]) -> str:
    """Return the SHA-256 of lines as read: that of a plain UTF-8 file in which each ends with a line feed."""
    return hashlib.sha256("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")).hexdigest()

"""Lines of a text file as they are meant: UTF-8, split at line feeds only, .gz unpacked on the way."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from regard.errors import DataError

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_bytes(path: Path) -> bytes:
    """Return the unpacked contents of a file."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" (looked in {Path.cwd()})"
        raise DataError(f"{path}: there is no such file{where}; check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder, not a file; name a file inside it.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{path}: the gzip data is damaged; fetch or compress the file again.") from None
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read ({error.strerror}).") from None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without a byte-order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(f"{path}: this is UTF-16; convert it with iconv -f utf-16 -t utf-8.") from None
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}: line {line} is not UTF-8 (byte 0x{data[error.start]:02x}); convert the file, for example "
            f"with iconv -f latin1 -t utf-8."
        ) from None


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

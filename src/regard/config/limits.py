"""Input size limits: they keep a bad file or an endless line from exhausting memory."""

import os
import re

from regard.errors import ConfigError

LINE = "REGARD_MAX_LINE_BYTES"
TEXT = "REGARD_MAX_TEXT_BYTES"
"""Environment variables that set the limits: bytes, or a number with K, M or G."""

DEFAULT_LINE = 2**24
DEFAULT_TEXT = 2**32
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def max_line_bytes() -> int:
    """Return the maximum length in bytes of a line of standard input or of JSON."""
    return _from_environment(LINE, DEFAULT_LINE)


def max_text_bytes() -> int:
    """Return the maximum bytes of one decompressed file read at once: 4 GiB, or 1/24 of the memory if that is less.

    A list of short lines takes eight times their bytes in memory, and rows of JSON more.
    """
    try:
        default = min(DEFAULT_TEXT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 24)
    except (AttributeError, ValueError, OSError):  # Windows
        default = DEFAULT_TEXT
    return _from_environment(TEXT, default)


def _from_environment(name: str, default: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    match = re.fullmatch(r"([0-9]{1,15})\s*([KMG]?)i?B?", text, re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise ConfigError(f'{name}: "{text}" is not a number of bytes; write one such as 16777216, 512M or 8G.')
    return int(match[1]) * UNITS[match[2].upper()]


def readable_size(size: int) -> str:
    """Return a number of bytes with a readable unit, e.g. "16 MiB"."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{round(size / factor, 1):g} {unit}"
    return f"{size} bytes"

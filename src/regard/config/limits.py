"""How much text is read at once: bounds that keep a bad file or an endless line from taking all memory."""

import os
import re

from regard.errors import ConfigError

LINE = "REGARD_MAX_LINE_BYTES"
TEXT = "REGARD_MAX_TEXT_BYTES"
"""Environment variables that set the limits: bytes, or a number with K, M or G."""

USUAL_LINE = 2**24
USUAL_TEXT = 2**32
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def max_line_bytes() -> int:
    """Return how long a line of standard input or of JSON may be."""
    return _from_environment(LINE, USUAL_LINE)


def max_text_bytes() -> int:
    """Return how much text of one file, unpacked, is read at once: 4 GiB, or a 24th of the memory if that is less.

    A list of short lines takes eight times their bytes, and rows of JSON more.
    """
    try:
        usual = min(USUAL_TEXT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 24)
    except (AttributeError, ValueError, OSError):  # Windows
        usual = USUAL_TEXT
    return _from_environment(TEXT, usual)


def _from_environment(name: str, usual: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return usual
    found = re.fullmatch(r"([0-9]{1,15})\s*([KMG]?)i?B?", text, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise ConfigError(f'{name}: "{text}" is no number of bytes; write one such as 16777216, 512M or 8G.')
    return int(found[1]) * UNITS[found[2].upper()]


def size_in_words(size: int) -> str:
    """Return a number of bytes as people write it."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{round(size / factor, 1):g} {unit}"
    return f"{size} bytes"

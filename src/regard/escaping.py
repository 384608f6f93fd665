"""Escaping of untrusted text: nothing in it acts as a command of a terminal, Markdown, HTML or a font."""

import html
import re
from collections.abc import Iterable, Iterator

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
"""Control characters (cursor, writing direction), lone surrogates and noncharacters."""
UNPRINTABLE = re.compile(f"[{CONTROLS}]")
UNPRINTABLE_IN_LINE = re.compile(f"[{CONTROLS}\t\n\u2028\u2029]")

MARKS = re.compile(r"[`*_\[\]~]")
"""Inline Markdown syntax that a backslash escapes."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "\\": "&#92;", "$": "&#36;"}
"""Characters escaped as entities: in a table cell, a backslash before a pipe is ambiguous."""
OPENING = re.compile(r"[#=-]|\+(?=\s)|[0-9]+(?=[.)]\s)")
"""Markdown syntax at the beginning of a paragraph: headings, rules and lists."""

LONGEST_NAME = 60
"""Maximum characters of a name in a plot."""


def printable(text: str) -> str:
    """Return text for a terminal, of one line or several, with control characters escaped."""
    return UNPRINTABLE.sub(_escaped, text)


def one_line(text: str) -> str:
    """Return text for a single line: line feeds and tabs are escaped too."""
    return UNPRINTABLE_IN_LINE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def in_markdown(text: str) -> str:
    """Return text for a line or a table cell of Markdown."""
    safe = "".join(ENTITIES.get(character, character) for character in one_line(text))
    safe = MARKS.sub(lambda match: f"\\{match[0]}", safe)
    return safe.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")  # no links, no mentions


def as_markdown_paragraph(text: str) -> str:
    """Return text for a paragraph of Markdown."""
    safe = in_markdown(text.strip())
    opening = OPENING.match(safe)
    if opening is None:
        return safe
    position = opening.end() if opening[0].isdigit() else 0
    return f"{safe[:position]}\\{safe[position:]}"


def in_markdown_code(text: str) -> str:
    """Return text as inline code for a line or a table cell of Markdown."""
    text = one_line(text)
    if not re.search(r"`|\\\|", text) and text.strip() == text:
        return f"`{text}`" if text else ""
    return f"<code>{in_markdown(text)}</code>"


def in_html(text: str) -> str:
    """Return text for HTML and its attributes; control characters, which XML forbids, are escaped."""
    return html.escape(printable(text))


def in_picture(text: str) -> str:
    """Return text for a plot: one line, truncated to LONGEST_NAME characters."""
    text = one_line(text)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that end a line."""


def on_one_line(parts: Iterable[str]) -> Iterator[str]:
    """Yield parts of a text so that all of them are one line: its lines, joined by spaces."""
    text = shown = ""
    for part in parts:
        text += part
        line = " ".join(text.rstrip(BREAKS).splitlines())
        yield line[len(shown) :]
        shown = line
    yield " ".join(text.splitlines())[len(shown) :]

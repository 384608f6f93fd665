"""Text from data as it may be shown: nothing in it is taken for a command of a terminal, Markdown, HTML or a font."""

import html
import re

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
"""What moves a cursor, turns the direction of writing, or is no character: control characters and lone surrogates."""
UNPRINTABLE = re.compile(f"[{CONTROLS}]")
UNPRINTABLE_IN_LINE = re.compile(f"[{CONTROLS}\t\n\u2028\u2029]")

MARKS = re.compile(r"[`*_\[\]~]")
"""What Markdown reads as its own inside a line, and a backslash takes the meaning from."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "\\": "&#92;", "$": "&#36;"}
"""What is safe as an entity only: in a cell, a backslash before a pipe would be read in two ways."""
OPENING = re.compile(r"[#=-]|\+(?=\s)|[0-9]+(?=[.)]\s)")
"""What Markdown reads as its own at the beginning of a paragraph: headings, rules and lists."""

LONGEST_NAME = 60
"""Characters of a name in a picture."""


def printable(text: str) -> str:
    """Return text for a terminal, of one line or several: control characters are shown, not obeyed."""
    return UNPRINTABLE.sub(_named, text)


def one_line(text: str) -> str:
    """Return text for a place that has one line: line feeds and tabs are shown too."""
    return UNPRINTABLE_IN_LINE.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def in_markdown(text: str) -> str:
    """Return text for a line, or a cell, of Markdown."""
    safe = "".join(ENTITIES.get(character, character) for character in one_line(text))
    safe = MARKS.sub(lambda found: f"\\{found[0]}", safe)
    return safe.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")  # no links, no mentions


def as_markdown_paragraph(text: str) -> str:
    """Return text for a paragraph of Markdown of its own."""
    safe = in_markdown(text.strip())
    found = OPENING.match(safe)
    if found is None:
        return safe
    place = found.end() if found[0].isdigit() else 0
    return f"{safe[:place]}\\{safe[place:]}"


def in_markdown_code(text: str) -> str:
    """Return text as code inside a line, or a cell, of Markdown."""
    text = one_line(text)
    if not re.search(r"`|\\\|", text) and text.strip() == text:
        return f"`{text}`" if text else ""
    return f"<code>{in_markdown(text)}</code>"


def in_html(text: str) -> str:
    """Return text for HTML, attributes included; XML has no control characters at all."""
    return html.escape(printable(text))


def in_picture(text: str) -> str:
    """Return text for a picture: one line that is no longer than a name should be."""
    text = one_line(text)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"

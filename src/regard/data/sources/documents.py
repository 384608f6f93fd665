"""Documents out of files of any size, in pieces: no more of a file is held than a block, or a line of JSON.

A table alone is held as a whole.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from regard.config.limits import max_line_bytes
from regard.data.settings.text import TextSource
from regard.data.sources.cells import text_in
from regard.data.sources.lines import BLOCK, is_text, text_blocks, too_long_a_line
from regard.data.sources.records import json_object, value_in
from regard.data.sources.tables import read_rows
from regard.errors import DataError

PIECE = 4096
"""Characters of a piece at most: enough to be encoded at full speed, few enough to share out and to cut at."""

JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv")


class DocumentChunk(NamedTuple):
    """A stretch of a document; laid end to end, its pieces are the document."""

    text: str
    is_last: bool
    consumed: int
    """Bytes of the file that were read since the piece before."""


class DocumentSpan(NamedTuple):
    """What a reader found: text of a document, and whether the document ends with it."""

    text: str
    is_last: bool
    consumed: int


def file_pieces(path: Path, place: TextSource) -> Iterator[DocumentChunk]:
    """Yield the documents of a file in pieces."""
    if ending(path) in JSON_LINES:
        return pieces_of(_json_documents(path, place.field))
    if ending(path) in TABLES:
        return pieces_of(_table_documents(path, place.field))
    readers = {"file": _whole_file, "blank-lines": _parted_by_blank_lines, "lines": _lines}
    return pieces_of(readers[place.documents](path))


def ending(path: Path) -> str:
    """Return what a file's name says about its form, packed or not."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def pieces_of(parts: Iterable[DocumentSpan]) -> Iterator[DocumentChunk]:
    """Yield documents that come in parts of any size in pieces; one of white space alone is none."""
    text, consumed, has_begun = "", 0, False
    for part in parts:
        text, begin = text + part.text, 0
        consumed += part.consumed
        while len(text) - begin > PIECE:
            end = place_to_cut(text, begin)
            yield DocumentChunk(text[begin:end], False, consumed)
            begin, consumed, has_begun = end, 0, True
        text = text[begin:]
        if part.is_last:
            if has_begun or text.strip():
                yield DocumentChunk(text, True, consumed)
                consumed = 0
            text, has_begun = "", False


def place_to_cut(text: str, begin: int) -> int:
    """Return where the piece that begins here ends, so that encoding what lies on either side changes nothing.

    That is after a line feed or before a space between two visible characters, as tokenizers look at runs of
    white space as a whole; only a text without either is cut anywhere.
    """
    limit, earliest = begin + PIECE, begin + PIECE // 2
    for mark, length in (("\n", 1), (" ", 0)):
        place = text.rfind(mark, earliest, limit)
        while place >= 0:
            if not text[place - 1].isspace() and not text[place + 1].isspace():
                return place + length
            place = text.rfind(mark, earliest, place)
    return limit


def _whole_file(path: Path) -> Iterator[DocumentSpan]:
    for text, consumed in text_blocks(path):
        yield DocumentSpan(text, False, consumed)
    yield DocumentSpan("", True, 0)


def _lines(path: Path) -> Iterator[DocumentSpan]:
    """Yield lines without their line feeds; one longer than a block comes in parts."""
    rest, consumed = "", 0
    for block, more in text_blocks(path):
        consumed += more
        *lines, rest = (rest + block).split("\n")
        for line in lines:
            yield DocumentSpan(line, True, consumed)
            consumed = 0
        if len(rest) > BLOCK:
            yield DocumentSpan(rest, False, consumed)
            rest, consumed = "", 0
    yield DocumentSpan(rest, True, consumed)


def _parted_by_blank_lines(path: Path) -> Iterator[DocumentSpan]:
    begins_line, begins_document = True, True
    for line in _lines(path):
        if begins_line and line.is_last and not line.text.strip():
            yield DocumentSpan("", True, line.consumed)
            begins_document = True
            continue
        feed = "\n" if begins_line and not begins_document else ""
        yield DocumentSpan(feed + line.text, False, line.consumed)
        begins_line, begins_document = line.is_last, False
    yield DocumentSpan("", True, 0)


def _json_documents(path: Path, field: str) -> Iterator[DocumentSpan]:
    number, parts, consumed, size, limit = 1, [""], 0, 0, max_line_bytes()
    for part in _lines(path):
        parts.append(part.text)
        consumed += part.consumed
        size += len(part.text)
        if size > limit:
            raise too_long_a_line(path, number)
        if part.is_last:
            line = "".join(parts)
            if line.strip():
                yield DocumentSpan(
                    text_of(json_object(line, path, number), field, f"{path}: line {number}"), True, consumed
                )
                consumed = 0
            number, parts, size = number + 1, [], 0


def _table_documents(path: Path, field: str) -> Iterator[DocumentSpan]:
    """Yield the cells of one column; a table is held as a whole."""
    table = read_rows(str(path), None, "", is_header=lambda first: True)
    names = {name.lower(): name for name in table.names}
    if field.lower() not in names:
        raise DataError(
            f'{path}: this table has no column "{field}" ({", ".join(table.names) or "it is empty"}); name the one '
            f"that holds the text, such as data.train.field=NAME (if it is no table, call it .txt)."
        )
    table.check_once(field)
    for where, row in table.rows:
        text = text_in(row, names[field.lower()], f"{path}: {where}", "mend the row")
        yield DocumentSpan(text, True, len(text.encode()))


def text_of(row: dict[str, object], field: str, where: str) -> str:
    """Return the text a record holds under a name."""
    value = value_in(row, field)
    if not isinstance(value, str):
        held = f"it has {', '.join(map(str, row)) or 'nothing'}" if value is None else f"but {value!r:.40}"
        raise DataError(
            f'{where} has no text under "{field}" ({held}); name the field that holds it, such as '
            f"data.train.field=NAME."
        )
    if not is_text(value):
        raise DataError(f'{where} has half a character (a lone surrogate) under "{field}"; write it whole.')
    return value

"""Streaming documents in chunks: at most one block of a file, or one line of JSON, is in memory.

Only tables are read as a whole.
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

CHUNK = 4096
"""Maximum chunk size in characters: enough to encode at full speed, small enough to parallelize and split at."""

JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv")


class DocumentChunk(NamedTuple):
    """A part of a document; its chunks, concatenated, are the document."""

    text: str
    is_last: bool
    consumed: int
    """Bytes of the file read since the previous chunk."""


class DocumentSpan(NamedTuple):
    """Text of a document as a reader yields it, of any size, and whether the document ends with it."""

    text: str
    is_last: bool
    consumed: int


def file_chunks(path: Path, source: TextSource) -> Iterator[DocumentChunk]:
    """Yield the documents of a file in chunks."""
    if ending(path) in JSON_LINES:
        return chunks_of(_json_documents(path, source.field))
    if ending(path) in TABLES:
        return chunks_of(_table_documents(path, source.field))
    readers = {"file": _whole_file, "blank-lines": _split_at_blank_lines, "lines": _lines}
    return chunks_of(readers[source.documents](path))


def ending(path: Path) -> str:
    """Return a file's extension in lower case, without .gz."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def chunks_of(parts: Iterable[DocumentSpan]) -> Iterator[DocumentChunk]:
    """Yield documents in chunks; a document of white space alone is left out."""
    text, consumed, has_begun = "", 0, False
    for part in parts:
        text, begin = text + part.text, 0
        consumed += part.consumed
        while len(text) - begin > CHUNK:
            end = cut_position(text, begin)
            yield DocumentChunk(text[begin:end], False, consumed)
            begin, consumed, has_begun = end, 0, True
        text = text[begin:]
        if part.is_last:
            if has_begun or text.strip():
                yield DocumentChunk(text, True, consumed)
                consumed = 0
            text, has_begun = "", False


def cut_position(text: str, begin: int) -> int:
    """Return the end of the chunk that starts at `begin`, so that the cut does not change the encoding.

    It is after a line feed or before a space between two visible characters, as tokenizers treat a run of white space
    as a unit; a text without either is cut anywhere.
    """
    limit, earliest = begin + CHUNK, begin + CHUNK // 2
    for mark, length in (("\n", 1), (" ", 0)):
        position = text.rfind(mark, earliest, limit)
        while position >= 0:
            if not text[position - 1].isspace() and not text[position + 1].isspace():
                return position + length
            position = text.rfind(mark, earliest, position)
    return limit


def _whole_file(path: Path) -> Iterator[DocumentSpan]:
    for text, consumed in text_blocks(path):
        yield DocumentSpan(text, False, consumed)
    yield DocumentSpan("", True, 0)


def _lines(path: Path) -> Iterator[DocumentSpan]:
    """Yield lines without their line feeds; a line longer than a block in parts."""
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


def _split_at_blank_lines(path: Path) -> Iterator[DocumentSpan]:
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
    """Yield the cells of one column; the table is read as a whole."""
    table = read_rows(str(path), None, "", is_header=lambda first: True)
    names = {name.lower(): name for name in table.names}
    if field.lower() not in names:
        raise DataError(
            f'{path}: this table has no column "{field}" ({", ".join(table.names) or "it is empty"}); name the one '
            f"that holds the text, such as data.train.field=NAME (if it is not a table, name it .txt)."
        )
    table.check_once(field)
    for where, row in table.rows:
        text = text_in(row, names[field.lower()], f"{path}: {where}", "fix the row")
        yield DocumentSpan(text, True, len(text.encode()))


def text_of(row: dict[str, object], field: str, where: str) -> str:
    """Return the text of a record's field."""
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

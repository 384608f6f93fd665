"""What can be wrong with a file that a user names: small builders, by kind of file."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 2**16
"""Bytes of text, and of a line, that are read at once while the table is tested."""

Maker = Callable[[Path, bytes], None]
"""Writes a bad file, given what a good one would hold."""


def _bytes(change: Callable[[bytes], bytes]) -> Maker:
    return lambda path, good: path.write_bytes(change(good)) and None


def _not_utf8(good: bytes) -> bytes:
    first, feed, rest = good.partition(b"\n")
    return first + feed + b"sch\xf6n\n" + rest


def _bomb(good: bytes) -> bytes:
    return gzip.compress(good + b" " * (2**20) * 12, 9)


ANY_FILE: dict[str, Maker] = {
    "missing": lambda path, good: None,
    "folder": lambda path, good: path.mkdir(),
    "not utf-8": _bytes(_not_utf8),
    "utf-16": _bytes(lambda good: good.decode().encode("utf-16")),
    "utf-32": _bytes(lambda good: good.decode().encode("utf-32")),
    "damaged gzip": _bytes(lambda good: b"\x1f\x8b" + good),
    "truncated gzip": _bytes(lambda good: gzip.compress(good)[:-12]),
    "gzip bomb": _bytes(_bomb),
}
"""Faults of every file that holds text."""

NO_CONTENT: dict[str, Maker] = {
    "empty": _bytes(lambda good: b""),
    "blank": _bytes(lambda good: b"\n \n\n"),
}
"""Faults of every file that something is learned from."""


def _rows(good: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(good.decode())))


def _csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _on_rows(change: Callable[[list[list[str]]], list[list[str]]]) -> Maker:
    return _bytes(lambda good: _csv(change(_rows(good))))


TABLE: dict[str, Maker] = {
    "cells too many": _on_rows(lambda rows: [rows[0], [*rows[1], "more", "and more"], *rows[2:]]),
    "open quote": _bytes(lambda good: good + b'"open\n'),
    "other columns": _on_rows(lambda rows: [[f"field_{n}" for n, _ in enumerate(rows[0])] + ["x", "y"], *rows[1:]]),
    "columns twice": _on_rows(lambda rows: [[*rows[0], *rows[0]], *([*row, *row] for row in rows[1:])]),
    "header alone": _on_rows(lambda rows: rows[:1]),
}
"""Faults of a CSV file."""


def _objects(good: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in good.decode().splitlines()]


def _lines(rows: list[Any]) -> bytes:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def _second(row: Any) -> Maker:
    """Put another line in place of the second one."""
    return _bytes(lambda good: _lines([*_objects(good)[:1], row, *_objects(good)[2:]]))


def _changed(name: str, value: Any) -> Maker:
    """Put another value under a name of the second row."""

    def change(good: bytes) -> bytes:
        rows = _objects(good)
        assert name in rows[1], name
        return _lines([rows[0], rows[1] | {name: value}, *rows[2:]])

    return _bytes(change)


JSON_LINES: dict[str, Maker] = {
    "not json": _second("{not json"),
    "a list": _second([1, 2]),
    "a number": _second("17"),
    "nested deep": _second('{"a":' * 100_000),
    "huge integer": _second('{"a": ' + "9" * 5_000 + "}"),
    "other names": _second({"x": "1", "y": "2"}),
}
"""Faults of a file with one JSON object a line."""

ODD_TEXTS: dict[str, Any] = {
    "a number": 5,
    "null": None,
    "a list": ["a"],
    "an object": {"a": "b"},
    "half a character": "a \ud800 b",
}
"""Values where a text is meant."""


def odd_fields(*names: str, leave_out: tuple[str, ...] = ()) -> dict[str, Maker]:
    """Return the faults of fields of rows that should hold a text."""
    return {
        f"{name} is {title}": _changed(name, value)
        for name in names
        for title, value in ODD_TEXTS.items()
        if title not in leave_out
    }

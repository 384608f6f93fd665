"""Markdown: tables and code; text that is not marked as Markdown is escaped."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from regard.escaping import in_markdown, in_markdown_code


class Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [header, [Markdown("---")] * len(header), *rows]
    return ["| " + " | ".join(cell(each) for each in line) + " |" for line in lines]


def cell(value: Any) -> str:
    """Return a value as the text of a table cell."""
    # In a cell even code may hold no pipe of its own.
    return value.replace("|", "\\|") if isinstance(value, Markdown) else in_markdown(str(value))


def code(value: Any) -> Markdown:
    """Return a value as code inside a line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Markdown(in_markdown_code(text))


def codes(values: Iterable[Any], between: str = ", ") -> Markdown:
    """Return several values, each as code."""
    return Markdown(between.join(code(value) for value in values))


def fenced(language: str, *lines: str) -> list[str]:
    """Return a fenced code block, its fence longer than any in the lines."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return [f"{fence}{language}", *lines, fence]

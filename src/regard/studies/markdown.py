"""Pieces of Markdown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


def code(value: Any) -> str:
    """Return a value as code inside a line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if text else ""


def began(facts: Mapping[str, Any]) -> list[str]:
    """Return the lines that say what a run began with; none where it began with nothing."""
    start = facts.get("start")
    return ["", f"Began with {code(start['path'])}, SHA-256 {code(start['sha256'] or 'unknown')}."] if start else []

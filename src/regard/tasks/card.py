"""Sections of a run's card that tasks have in common: usage, pretrained model, data sources."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.reporting.markdown import Markdown, code, codes, fenced
from regard.tasks.declarations import Operation
from regard.tasks.record import DataReport, RunRecord


@dataclass(frozen=True)
class CardInput:
    """A run as a card shows it: its folder and its record."""

    path: Path
    record: RunRecord


def usage(path: Path, operations: Sequence[Operation]) -> list[str]:
    """Return the section on usage: the operations in a shell, and the first one with a call in Python."""
    argument, name = shlex.quote(str(path)), json.dumps(str(path), ensure_ascii=False)
    calling = next(operation for operation in operations if operation.call)
    return [
        "## Use it",
        "",
        *fenced("sh", *(f"regard {each.name} {argument} {each.example}" for each in operations if each.example)),
        "",
        *fenced("python", "import regard", "", f"{calling.variable} = regard.load({name})", calling.call),
    ]


def pretrained(report: DataReport) -> list[str]:
    """Return the lines on the pretrained model of a run; none for random initialization."""
    origin = report.init_from
    return (
        ["", f"Initialized from {code(origin.path)}, SHA-256 {code(origin.sha256 or 'unknown')}."] if origin else []
    )


def source_of(sources: Mapping[str, Any], role: str) -> Markdown | str:
    """Return the files of a set, `train`, `valid` or `test NAME`, as the settings of the data name them."""
    source = sources["test"].get(role.removeprefix("test ")) if role.startswith("test ") else sources.get(role)
    if not source:
        return "held out of train"
    names = [source.get("path"), source.get("source"), source.get("target")]
    names += [*source.get("references", []), *source.get("paths", [])]
    rows = f" (at most {source['max_rows']:,})" if source.get("max_rows") else ""
    return Markdown(codes(name for name in names if name) + rows)

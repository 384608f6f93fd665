"""Metrics log: metrics.jsonl, whose lines go to loggers too."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.config.parsing import ParseError, parse_json
from regard.errors import RunError
from regard.training.reports.loggers import Logger
from regard.training.settings import LoggerName

METRICS = "metrics.jsonl"

MOST = 2.0**63
"""Bound of plausible values; larger ones are damage."""


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of a metrics.jsonl, numbers only.

    A line truncated by a kill or damaged on disk is skipped, and so is a value that is not a number.
    """
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]  # a truncated line has no newline
    records = (_record(line) for line in lines)
    return [record for record in records if record is not None]


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = parse_json(line)
    except ParseError:
        return None
    if not isinstance(record, dict):
        return None
    metrics = {name: value for name, value in record.items() if _is_number(value)}
    return metrics if isinstance(metrics.get("step"), int) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) >= MOST


class MetricsLog:
    """Appends one JSON object a line; a resumed run drops the lines after the step it resumes from."""

    def __init__(
        self, folder: Path, step: int, loggers: Mapping[LoggerName, Logger], is_silent: bool = False
    ) -> None:
        self.path = folder / METRICS
        self.is_silent = is_silent
        self.loggers = {} if is_silent else loggers
        self.forget(step)

    def forget(self, step: int) -> None:
        """Drop the lines after a step."""
        if self.is_silent:
            return
        kept = [record for record in read_metrics(self.path) if record["step"] <= step]
        write_text(self.path, "".join(json.dumps(record) + "\n" for record in kept))

    def write(self, record: dict[str, float]) -> None:
        """Add one line."""
        if self.is_silent:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        except OSError as error:
            raise RunError(
                f"{self.path}: the training metrics could not be written ({error.strerror}); checkpoints are "
                f"untouched, so free some space and resume with --resume."
            ) from None
        for name, logger in self.loggers.items():
            try:
                logger.write(record)
            except Exception as error:  # a package of others may fail in any way, as when its server is away
                raise RunError(
                    f"train.loggers: {name} could not log step {int(record.get('step', 0))} ({type(error).__name__}: "
                    f"{' '.join(str(error).split())}); checkpoints are untouched, so resume with --resume."
                ) from None

    def __enter__(self) -> "MetricsLog":
        return self

    def __exit__(self, *_: object) -> None:
        for logger in self.loggers.values():
            logger.close()

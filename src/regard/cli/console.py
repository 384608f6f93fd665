"""Terminal output: progress (bars in a terminal, lines elsewhere), tables, and JSON."""

import json
import math
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from regard.escaping import one_line, printable
from regard.progress import SILENT, Bar, Progress

SECONDS_BETWEEN_LINES = 10.0
SEPARATORS = re.compile(r"[\t\r\n]+")
"""Characters that would split the cells and rows of a tab-separated table."""


def errors() -> Console:
    """Return the console on standard error: messages and progress never mix with results."""
    return Console(stderr=True, highlight=False)


def progress(quiet: bool = False) -> Progress:
    """Return the progress reporter of this process: silent, bars, or lines."""
    if quiet:
        return SILENT
    console = errors()
    return BarProgress(console) if console.is_terminal else LineProgress(console)


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value, dataclasses included, as JSON on standard output."""
    print_line(json.dumps(_plain(value), ensure_ascii=False, indent=indent))


def _plain(value: Any) -> Any:
    """Return a value in JSON's types; NaN and infinities become null."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def print_line(text: str = "") -> None:
    """Print a line on standard output, whatever its characters."""
    write(text + "\n")


def write(text: str) -> None:
    """Write text to standard output: unchanged in a pipe, control characters escaped in a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table: aligned in a terminal, tab-separated in a pipe."""
    if not sys.stdout.isatty():
        for row in [header, *rows]:
            print_line("\t".join(SEPARATORS.sub(" ", each) for each in row))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        table.add_column(cell(name), justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(cell, row))
    Console(highlight=False).print(table)


def cell(text: str) -> Text:
    """Return a cell of a terminal table: one line of plain text, without markup."""
    return Text(one_line(text))


def duration(seconds: float) -> str:
    """Return a time span as [h:]mm:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class ElapsedColumn:
    """Steps done and left, their speed, and the remaining time."""

    def __init__(self, total: int | None, done: int) -> None:
        self.total, self.done, self.first = total, done, done
        self.started = time.monotonic()

    def status(self, facts: dict[str, float]) -> str:
        """Return loss, speed and ETA as text."""
        elapsed = time.monotonic() - self.started
        rate = (self.done - self.first) / elapsed if elapsed > 0 else 0.0
        parts = []
        if "loss" in facts:
            parts.append(f"loss {facts['loss']:.3f}")
        if "tokens_per_second" in facts:
            parts.append(f"{facts['tokens_per_second']:,.0f} tokens/s")
        elif "words_per_second" in facts:
            parts.append(f"{facts['words_per_second']:,.0f} words/s")
        elif rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        if self.total and rate:
            parts.append(f"ETA {duration((self.total - self.done) / rate)}")
        return "  ".join(parts)


class BarProgress(Progress):
    """Progress bars in a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def info(self, message: str) -> None:
        """Print a line above the bar."""
        self.console.print(printable(message), markup=False)

    def warn(self, message: str) -> None:
        """Print a highlighted line."""
        self.console.print(printable(message), style="yellow", markup=False)

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Show a bar with steps, metrics and elapsed time."""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[metrics]}", markup=False),
            TimeElapsedColumn(),
        )
        with RichProgress(*columns, console=self.console, transient=True) as bars:
            task = bars.add_task(one_line(title), total=total, completed=done, metrics="")
            clock = ElapsedColumn(total, done)

            class TerminalBar(Bar):
                def advance(self, amount: int = 1, **facts: float) -> None:
                    clock.done += amount
                    bars.update(task, completed=clock.done, metrics=clock.status(facts))

            yield TerminalBar()


class LineProgress(Progress):
    """Progress as lines at intervals, for pipes and logs."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def info(self, message: str) -> None:
        """Print a line."""
        self.console.print(printable(message), markup=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """Print a line."""
        self.info(f"warning: {message}")

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Print a line every SECONDS_BETWEEN_LINES, and a last one where any was printed."""
        clock = ElapsedColumn(total, done)
        print_message = self.info

        class LineBar(Bar):
            printed = time.monotonic()
            has_lines = False

            def advance(self, amount: int = 1, **facts: float) -> None:
                clock.done += amount
                now = time.monotonic()
                is_end = amount > 0 and clock.done == total  # an amount of 0 only refreshes the metrics
                if now - self.printed >= SECONDS_BETWEEN_LINES or (self.has_lines and is_end):
                    self.printed, self.has_lines = now, True
                    print_message(f"{title} {clock.done:,}/{f'{total:,}' if total else '?'}  {clock.status(facts)}")

        yield LineBar()

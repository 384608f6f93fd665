"""What people see: progress that is drawn in a terminal and told in lines elsewhere, tables, and JSON."""

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
from rich.progress import Progress as Drawing
from rich.table import Table
from rich.text import Text

from regard.escaping import one_line, printable
from regard.progress import SILENT, Bar, Progress

SECONDS_BETWEEN_LINES = 10.0
SEPARATORS = re.compile(r"[\t\r\n]+")
"""What would part cells and rows of a table in a pipe."""


def errors() -> Console:
    """Return the console on standard error: messages and progress never mix with results."""
    return Console(stderr=True, highlight=False)


def progress(quiet: bool = False) -> Progress:
    """Return the reporter for this process: silent, drawn, or in lines."""
    if quiet:
        return SILENT
    console = errors()
    return Drawn(console) if console.is_terminal else Lines(console)


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value, dataclasses included, as JSON on standard output."""
    print_line(json.dumps(_plain(value), ensure_ascii=False, indent=indent))


def _plain(value: Any) -> Any:
    """Return a value made of what JSON knows, which knows no NaN."""
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
    """Write text to standard output: as it is in a pipe, and so that a terminal obeys none of it."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table: drawn in a terminal, tab-separated in a pipe."""
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
    """Return what stands in a drawn table: text from data, and no markup."""
    return Text(one_line(text))


def duration(seconds: float) -> str:
    """Write a time span as people do."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class ElapsedColumn:
    """Steps done and to do, and what follows from the time they took."""

    def __init__(self, total: int | None, done: int) -> None:
        self.total, self.done, self.begun = total, done, done
        self.started = time.monotonic()

    def figures(self, facts: dict[str, float]) -> str:
        """Say loss, speed and time to go."""
        elapsed = time.monotonic() - self.started
        rate = (self.done - self.begun) / elapsed if elapsed > 0 else 0.0
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


class Drawn(Progress):
    """Bars in a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, message: str) -> None:
        """Print a line above the bar."""
        self.console.print(printable(message), markup=False)

    def warn(self, message: str) -> None:
        """Print a line that stands out."""
        self.console.print(printable(message), style="yellow", markup=False)

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Draw a bar with steps, figures and time."""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            TimeElapsedColumn(),
        )
        with Drawing(*columns, console=self.console, transient=True) as drawing:
            task = drawing.add_task(one_line(title), total=total, completed=done, figures="")
            clock = ElapsedColumn(total, done)

            class DrawnBar(Bar):
                def advance(self, amount: int = 1, **facts: float) -> None:
                    clock.done += amount
                    drawing.update(task, completed=clock.done, figures=clock.figures(facts))

            yield DrawnBar()


class Lines(Progress):
    """One line now and then, for pipes and logs."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, message: str) -> None:
        """Print a line."""
        self.console.print(printable(message), markup=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """Print a line."""
        self.say(f"warning: {message}")

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Print a line every few seconds, and one at the end of anything that took that long."""
        clock = ElapsedColumn(total, done)
        say = self.say

        class LineBar(Bar):
            told = time.monotonic()
            is_long = False

            def advance(self, amount: int = 1, **facts: float) -> None:
                clock.done += amount
                now = time.monotonic()
                is_end = amount > 0 and clock.done == total  # what is read at once may be worked on for long
                if now - self.told >= SECONDS_BETWEEN_LINES or (self.is_long and is_end):
                    self.told, self.is_long = now, True
                    say(f"{title} {clock.done:,}/{f'{total:,}' if total else '?'}  {clock.figures(facts)}")

        yield LineBar()

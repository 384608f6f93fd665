"""Progress on standard error: bars in a terminal or a notebook, lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from regard.escaping import one_line, printable
from regard.progress import SILENT, Bar, Progress, duration

SECONDS_BETWEEN_LINES = 10.0


def errors() -> Console:
    """Return the console on standard error: messages and progress never mix with results."""
    return Console(stderr=True, highlight=False)


def bars() -> Progress:
    """Return bars for a terminal or a notebook, and lines for a pipe."""
    console = errors()
    return BarProgress(console) if console.is_terminal or console.is_jupyter else LineProgress(console)


def as_progress(given: Progress | bool | None) -> Progress:
    """Return the reporter of a Python call; None: bars in a terminal or notebook only; False: nothing."""
    if isinstance(given, Progress):
        return given
    if given is None and not sys.stderr.isatty() and not errors().is_jupyter:
        return SILENT
    return SILENT if given is False else bars()


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

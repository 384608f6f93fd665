"""A table that is refreshed in a terminal while something runs, with progress below it and messages above it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from regard.escaping import one_line
from regard.progress import SILENT, Bar, Progress
from regard.reporting.bars import BarProgress, ElapsedColumn, bars, errors

U = TypeVar("U")
Shown = tuple[Sequence[str], Sequence[Sequence[str]], str]
"""A header, rows, and a note under them."""


class LiveTable(BarProgress):
    """A table, and progress in the line below it."""

    def __init__(self, console: Console, right: int = 1) -> None:
        super().__init__(console)
        self.right, self.doing = right, ""
        """The first column that is aligned to the right."""
        self.shown: Shown = ((), (), "")

    def show(self, header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
        """Show other rows."""
        self.shown = header, rows, note

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Show progress in the line below the table."""
        clock, table = ElapsedColumn(total, done), self

        class Line(Bar):
            def advance(self, amount: int = 1, **facts: float) -> None:
                clock.done += amount
                whole = "?" if total is None else f"{total:,}"
                table.doing = f"{title} {clock.done:,}/{whole}  {clock.status(facts)}"

        self.doing = title
        try:
            yield Line()
        finally:
            self.doing = ""

    def render(self) -> Group:
        """Return the table as it is now."""
        header, rows, note = self.shown
        table = Table(box=None, pad_edge=False, header_style="bold")
        for number, name in enumerate(header):
            table.add_column(Text(one_line(name)), justify="left" if number < self.right else "right")
        for row in rows:
            table.add_row(*(Text(one_line(each)) for each in row))
        lines = [Text(one_line(each), style="dim") for each in (note, self.doing)]
        return Group(*([table, lines[0]] if note else [table] if header else []), lines[1])


@contextmanager
def live(
    quiet: bool, table: Callable[[U], Shown], line: Callable[[U], Sequence[str]], right: int = 1
) -> Iterator[tuple[Progress, Callable[[U], None]]]:
    """Yield a reporter, and a function that shows a newer state: as a table in a terminal, else as lines."""
    console = errors()
    if quiet or not console.is_terminal:
        reporter = SILENT if quiet else bars()
        yield reporter, lambda state: _print(reporter, line(state))
        return
    shown = LiveTable(console, right)
    with Live(get_renderable=shown.render, console=console, refresh_per_second=4, transient=True):
        yield shown, lambda state: shown.show(*table(state))


def _print(reporter: Any, lines: Sequence[str]) -> None:
    for each in lines:
        reporter.info(each)

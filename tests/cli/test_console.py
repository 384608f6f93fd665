import sys
from io import StringIO

import pytest
from rich.console import Console

from nasty import NASTY
from regard.cli import console
from regard.reporting.bars import BarProgress, LineProgress
from regard.reporting.live import LiveTable


class Terminal(StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("text", NASTY)
def test_what_a_terminal_is_shown_is_neither_markup_nor_a_command(text, monkeypatch):
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    console.print_table((text, "b"), [(text, "1")])
    console.print_line(text)
    shown_bars = BarProgress(Console(file=out, force_terminal=True, width=300))
    shown_bars.info(text)
    with shown_bars.bar(text, 3) as bar:
        bar.advance(1, loss=0.5)
    lines = LineProgress(Console(file=out, width=300))
    lines.warn(text)
    shown = out.getvalue()
    assert "\x1b[31m" not in shown and "\x9b" not in shown and "\x07" not in shown and "\x00" not in shown
    if "[bold]" in text:
        assert shown.count("[bold]red[/bold] [/]") >= 5
    table = LiveTable(Console(file=out, force_terminal=True, width=300))
    table.show((text, "value"), [(text, "1")], text)
    table.doing = text
    table.console.print(table.render())


def test_a_pipe_gets_text_as_it_is_and_one_row_a_line(monkeypatch):
    out = StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    console.print_line("\x1b[31m\u202e")
    console.print_table(("a", "b"), [("one\ntwo", "a\tb")])
    assert out.getvalue() == "\x1b[31m\u202e\na\tb\none two\ta b\n"

import sys
from io import StringIO

from rich.console import Console

from regard.progress import SILENT, Progress
from regard.reporting import bars


class Terminal(StringIO):
    def isatty(self):
        return True


def test_a_call_shows_bars_in_a_terminal_and_nothing_elsewhere(monkeypatch):
    own = Progress()
    assert bars.as_progress(own) is own
    monkeypatch.setattr(sys, "stderr", StringIO())
    assert bars.as_progress(None) is SILENT and isinstance(bars.as_progress(True), bars.LineProgress)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(bars.as_progress(None), bars.BarProgress) and bars.as_progress(False) is SILENT


def test_lines_show_progress_with_and_without_a_total(monkeypatch):
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0.0)
    out = StringIO()
    lines = bars.LineProgress(Console(file=out, width=200))
    for total in (5000, None):
        with lines.bar("read", total) as bar:
            bar.advance(2000, tokens_per_second=3.0)
    printed = out.getvalue().splitlines()
    assert printed[0].startswith("read 2,000/5,000  3 tokens/s") and printed[1] == "read 2,000/?  3 tokens/s"


def test_updates_after_the_last_step_print_no_further_lines(monkeypatch):
    out = StringIO()
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0.0)
    with bars.LineProgress(Console(file=out, width=200)).bar("tokenize", 3) as bar:
        bar.advance(1)
        monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 60.0)
        for amount in (1, 1, 0, 0, 0):
            bar.advance(amount)
    assert [line.split()[1] for line in out.getvalue().splitlines()] == ["1/3", "3/3"]

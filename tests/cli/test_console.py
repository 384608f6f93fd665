from io import StringIO

from rich.console import Console

from regard.cli import console


def test_lines_are_told_of_work_whose_end_is_known_and_of_work_whose_end_is_not(monkeypatch):
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 0.0)
    out = StringIO()
    lines = console.Lines(Console(file=out, width=200))
    for total in (5000, None):
        with lines.bar("read", total) as bar:
            bar.advance(2000, tokens_per_second=3.0)
    told = out.getvalue().splitlines()
    assert told[0].startswith("read 2,000/5,000  3 tokens/s") and told[1] == "read 2,000/?  3 tokens/s"

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


def test_work_behind_the_end_of_what_was_read_is_not_told_again_and_again(monkeypatch):
    out = StringIO()
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 0.0)
    with console.Lines(Console(file=out, width=200)).bar("tokenise", 3) as bar:
        bar.advance(1)
        monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 60.0)
        for amount in (1, 1, 0, 0, 0):
            bar.advance(amount)
    assert [line.split()[1] for line in out.getvalue().splitlines()] == ["1/3", "3/3"]

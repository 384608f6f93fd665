"""A table that is refreshed in a terminal is lines elsewhere, and nothing where quiet is asked for."""

from io import StringIO

from rich.console import Console

from regard.progress import SILENT
from regard.reporting.live import LiveTable, live


def test_without_a_terminal_the_lines_of_a_state_go_to_standard_error(capsys):
    table = lambda state: (["a"], [[str(state)]], "")
    with live(False, table, lambda state: [f"state {state}"]) as (_, update):
        update(1)
    with live(True, table, lambda state: [f"state {state}"]) as (reporter, update):
        update(2)
    assert capsys.readouterr().err == "state 1\n" and reporter is SILENT


def test_a_table_has_a_note_and_what_is_done_now():
    console = Console(file=StringIO(), width=80)
    table = LiveTable(console)
    table.show(["name", "value"], [["one", "1"], ["two\nlines", "2"]], "1 of 2")
    with table.bar("train", 10) as bar:
        bar.advance(3)
        console.print(table.render())
    lines = console.file.getvalue().splitlines()
    assert [line.split() for line in lines[:2]] == [["name", "value"], ["one", "1"]]
    assert lines[3] == "1 of 2" and lines[4].startswith("train 3/10")

"""Every mistake in the table is exit code 2, one sentence and no traceback, and leaves nothing behind."""

import shutil
from pathlib import Path

import pytest

from commands import entered
from mistakes.damaged_runs import RUN, of_runs
from mistakes.faults import LIMIT
from mistakes.options import of_options
from mistakes.table import Mistake, good_files, of_files, of_other_tasks, of_standard_input

ROWS = [*of_files(), *of_standard_input(), *of_other_tasks(), *of_runs(), *of_options()]


def entries(folder: Path) -> dict[str, int]:
    """Return everything in a folder, with sizes."""
    return {str(path.relative_to(folder)): path.lstat().st_size for path in sorted(folder.rglob("*"))}


def test_the_table_is_large_and_names_no_row_twice():
    assert len(ROWS) >= 500 and len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_mistake_is_one_sentence_and_leaves_nothing_behind(row: Mistake, tiny_runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGARD_MAX_TEXT_BYTES", str(LIMIT))
    monkeypatch.setenv("REGARD_MAX_LINE_BYTES", str(LIMIT))
    (tmp_path / "good").mkdir()
    for name, content in good_files().items():
        (tmp_path / "good" / name).write_bytes(content)
    if row.fault is not None:
        row.fault(tmp_path / row.file, row.content)
    if row.damage is not None:
        shutil.copytree(tiny_runs / row.run, tmp_path / RUN)
        row.damage(tmp_path / RUN)
    before = entries(tmp_path)
    places = {"bad": row.file, "runs": str(tiny_runs), "good": "good"}
    code, out, messages = entered(*(_filled(word, places) for word in row.words), stdin=row.stdin)
    assert code == 2, (code, out, messages)
    assert "Traceback" not in messages and messages.count("\n") == 1 and messages.startswith("regard: "), messages
    assert messages.endswith((".\n", "?\n")) and len(messages) < 700, messages
    assert entries(tmp_path) == before


def _filled(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace(f"{{{name}}}", value)
    return word

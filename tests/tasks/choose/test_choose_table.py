"""Multiple choice over the rows of a table."""

import json

import pytest

from head_bundles import head_bundle
from regard.tasks.choose.pipeline import MultipleChoice


def test_each_row_has_its_choice_and_rows_with_fewer_choices_are_padded(tmp_path):
    rows = [{"context": "a film", "choices": ["was good", "was bad"]}, {}]
    rows.append({"context": "a song", "choices": ["was good", "was bad", "was fine"]})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    chooser = MultipleChoice(head_bundle("choose"))
    table = chooser.table(str(tmp_path / "a.jsonl"))
    header, first, blank, last = table.cells()
    assert header[-5:] == ["number", "choice", "probability_0", "probability_1", "probability_2"]
    assert first[-1] == "" and blank[-5:] == [""] * 5
    result = chooser("a song", ["was good", "was bad", "was fine"])
    assert last[-5:-3] == [str(result.number), result.choice]
    assert [float(cell) for cell in last[-3:]] == pytest.approx(result.probabilities, abs=2e-6)
    assert [row["choice"] for row in table.records()][1:] == [None, result.choice]

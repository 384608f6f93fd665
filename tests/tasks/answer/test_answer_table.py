"""Question answering over the rows of a table."""

import pytest

from head_bundles import head_bundle
from regard.tasks.answer.pipeline import QuestionAnswerer


def test_each_row_has_the_answer_to_its_question(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,question,context\n1,what was good?,the film was good\n2,,\n3,who?,the man with the song\n")
    answerer = QuestionAnswerer(head_bundle("answer"))
    table = answerer.table(str(path), threshold=1e9)
    header, first, blank, last = table.cells()
    assert header == ["id", "question", "context", "answer", "probability"] and blank[3:] == ["", ""]
    for row in (first, last):
        result = answerer(row[1], row[2], threshold=1e9)
        assert row[3] == result.text and row[3] in row[2] and row[3]
        assert float(row[4]) == pytest.approx(result.probability, abs=1e-5)
    assert all(row["answer"] in ("", None) for row in answerer.table(str(path), threshold=-1e9).records())

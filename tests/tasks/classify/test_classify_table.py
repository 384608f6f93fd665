"""Classification of the rows of a table."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.tasks.classify.pipeline import Classifier


def test_each_row_has_its_label_and_all_probabilities(tmp_path):
    (tmp_path / "a.csv").write_text(f'id,text\n1,"{TEXTS[0]}"\n2,\n3,"{TEXTS[1]}"\n')
    classifier = Classifier(head_bundle("classify"))
    table = classifier.table(str(tmp_path / "a.csv"))
    header, first, blank, last = table.cells()
    assert header == ["id", "text", "label", "probability_a", "probability_b", "probability_c"]
    assert blank == ["2", "", "", "", "", ""]
    for row, text in ((first, TEXTS[0]), (last, TEXTS[1])):
        result = classifier(text)
        assert row[2] == result.label
        assert [float(cell) for cell in row[3:]] == pytest.approx(list(result.probabilities.values()), abs=2e-6)
    assert table.records()[1]["probabilities"] is None and set(table.records()[0]["probabilities"]) == {"a", "b", "c"}


def test_columns_may_be_named(tmp_path):
    (tmp_path / "a.csv").write_text("left,right\na film,a song\n")
    path, classifier = str(tmp_path / "a.csv"), Classifier(head_bundle("classify", texts=2))
    assert classifier.table(path, columns={"text": "right", "second": "left"}).results[0].row.texts == (
        "a song",
        "a film",
    )
    trained = Classifier(head_bundle("classify", columns={"text_column": "right"}))
    assert trained.table(path).results[0].row.texts == ("a song",)

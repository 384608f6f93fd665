"""Rows with a list of labels each: from JSON, and from tables with a separator."""

import json

import pytest

from regard.data.settings.examples import ClassSource, LabelSource
from regard.data.sources.label_lists import lists_labels
from regard.data.sources.labeled import LabeledRow, read_labeled, read_labeled_with_columns
from regard.errors import DataError


def written(tmp_path, *labels, name="a.jsonl"):
    rows = [{"text": f"text {number}", "labels": each} for number, each in enumerate(labels)]
    (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / name)


def test_lists_of_json_are_sorted_labels_and_an_empty_one_is_none(tmp_path):
    rows = read_labeled(ClassSource(path=written(tmp_path, ["b", "a"], [], [3])))
    assert rows == [
        LabeledRow(("text 0",), '["a", "b"]', ("a", "b")),
        LabeledRow(("text 1",), "[]", ()),
        LabeledRow(("text 2",), '["3"]', ("3",)),
    ]


def test_a_separator_divides_the_cells_of_a_table_and_the_training_sets_holds_for_others(tmp_path):
    (tmp_path / "a.csv").write_text("text,labels\none,x| y\ntwo,\nthree,y\n")
    source = ClassSource(path=str(tmp_path / "a.csv"), label_separator="|")
    rows, columns = read_labeled_with_columns(source)
    assert [each.labels for each in rows] == [("x", "y"), (), ("y",)] and columns["label_separator"] == "|"
    again, _ = read_labeled_with_columns(ClassSource(path=source.path), usual=columns)
    assert again == rows


def test_without_a_separator_a_cell_is_one_label(tmp_path):
    (tmp_path / "a.csv").write_text("text,labels\none,x|y\ntwo,y\n")
    assert [each.labels for each in read_labeled(ClassSource(path=str(tmp_path / "a.csv")))] == [None, None]


def test_whether_labels_are_lists_is_seen_before_reading(tmp_path):
    lists, single = written(tmp_path, None, ["a"]), written(tmp_path, "a", name="b.json")
    (tmp_path / "c.csv").write_text("text,label\none,x|y\n")
    seen = {
        lists: True,
        single: False,
        str(tmp_path / "c.csv"): False,
        str(tmp_path / "no.jsonl"): False,
        "miniature:reviews/train": False,
    }
    assert {path: lists_labels(ClassSource(path=path)) for path in seen} == seen
    assert lists_labels(ClassSource(path=str(tmp_path / "c.csv"), label_separator="|"))
    assert not lists_labels(LabelSource(path=lists))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (
            (["a"], "b"),
            'record 1 has a list of labels, and record 2 the label "b"; give every row a list, [] for no label.',
        ),
        ((["a", "a"],), 'record 1 lists "a" twice under "labels"; list the names of its labels, each once.'),
        (([0, 1, 0],), 'record 1 lists "0" twice under "labels"; list the names of its labels, each once.'),
        ((["a", ""],), 'record 1 has an empty label in the list under "labels"; leave it out.'),
    ],
)
def test_ambiguous_labels_are_refused(tmp_path, labels, sentence):
    path = written(tmp_path, *labels)
    with pytest.raises(DataError) as error:
        read_labeled(ClassSource(path=path))
    message = str(error.value)
    assert message.startswith(path) and message.replace(": ", " ").endswith(sentence.replace(": ", " "))


def test_a_source_of_one_label_each_takes_no_list(tmp_path):
    with pytest.raises(DataError, match='record 1 has a list under "labels", where one text or number is needed'):
        read_labeled(LabelSource(path=written(tmp_path, ["a"])))

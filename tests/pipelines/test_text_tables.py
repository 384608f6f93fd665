"""Text columns of a table, and the same table with additional columns."""

import json

import pytest

from regard.errors import DataError
from regard.pipelines.text_tables import read_text_table, with_texts
from regard.progress import Progress


class Reported(Progress):
    def __init__(self):
        self.sentences = []

    def info(self, message):
        self.sentences.append(message)


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_rows_keep_their_order_and_cells_and_gain_columns(tmp_path):
    path, progress = written(tmp_path, "a.csv", "id,text\n7,the dog\n8,\n9,a cat\n"), Reported()
    table = read_text_table(path, [], 1, progress=progress)
    assert table.texts == [("the dog",), ("",), ("a cat",)]
    assert table.cells(["label"], [["x"], ["y"], ["z"]]) == [
        ["id", "text", "label"],
        ["7", "the dog", "x"],
        ["8", "", "y"],
        ["9", "a cat", "z"],
    ]
    assert table.records([{"label": "x"}, {"label": "y"}, {"label": "z"}])[2] == {
        "id": "9",
        "text": "a cat",
        "label": "z",
    }
    assert progress.sentences == [f'{path}: the text is in column "text".']
    assert table.where[2].startswith(f"{path}: ")


def test_a_column_that_is_there_already_is_not_overwritten(tmp_path):
    path = written(tmp_path, "a.csv", "text,Label\na,b\n")
    table = read_text_table(path, ["text"], 1)
    assert table.cells(["label"], [["c"]]) == [["text", "Label", "predicted_label"], ["a", "b", "c"]]
    assert table.records([{"label": "c"}]) == [{"text": "a", "Label": "b", "predicted_label": "c"}]


def test_values_of_json_become_cells(tmp_path):
    rows = [{"text": "a", "tags": ["x", "ü"], "is_new": True, "count": 3, "none": None}]
    table = read_text_table(written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows))), [], 1)
    (header, cells) = table.cells([], [[]])
    assert dict(zip(header, cells, strict=True)) == {
        "text": "a",
        "tags": '["x", "ü"]',
        "is_new": "true",
        "count": "3",
        "none": "",
    }


def test_columns_of_the_training_set_come_before_guesses(tmp_path):
    path = written(tmp_path, "a.csv", "text,review\na,b\n")
    assert read_text_table(path, [], 1).texts == [("a",)]
    assert read_text_table(path, [], 1, {"text_column": "review"}).texts == [("b",)]
    assert read_text_table(path, ["text"], 1, {"text_column": "review"}).texts == [("a",)]
    assert read_text_table(path, [], 1, {"text_column": "elsewhere"}).texts == [("a",)]


def test_columns_without_names_are_named_in_the_output(tmp_path):
    progress = Reported()
    table = read_text_table(written(tmp_path, "a.tsv", "1\tone two\tthree four\n"), [1, 2], 2, progress=progress)
    assert table.texts == [("one two", "three four")] and table.names == ["column_0", "text_a", "text_b"]
    assert progress.sentences[0].endswith(': the text is in column "1" and "2" (counted from 0).')


def test_a_table_whose_texts_are_not_found_or_that_is_empty_is_refused(tmp_path):
    path = written(tmp_path, "a.csv", "1,2\n3,4\n")
    with pytest.raises(DataError, match=r"is known to hold the text; give --text-column\.$"):
        read_text_table(path, [], 1)
    with pytest.raises(DataError, match=r"is known to hold the two texts; give --text-column\.$"):
        read_text_table(written(tmp_path, "b.csv", "text,label\na,b\n"), [], 2)
    with pytest.raises(DataError, match="there are no rows in it"):
        read_text_table(written(tmp_path, "c.csv", ""), [], 1)


def test_any_columns_may_be_the_texts(tmp_path):
    from regard.data.sources.tables import read_rows

    table = read_rows(written(tmp_path, "a.csv", "question,context\nq,c\n"), None, "train", lambda row: True)
    assert with_texts(table, ["context", "question"]).texts == [("c", "q")]

"""Records with named fields: lines of JSON and rows of data sets."""

from pathlib import Path

import pytest

from regard.data.sources.records import NO_FIELDS, dataset_rows, json_object, load_datasets, value_in
from regard.errors import DataError

PATH = Path("a.jsonl")


def test_a_line_is_one_object_and_empty_ones_are_shared():
    assert json_object('{"a": {"b": 1}}', PATH, 1) == {"a": {"b": 1}}
    assert json_object("{}", PATH, 1) is NO_FIELDS


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("[1]", "a.jsonl: line 7 is not a JSON object; write one object per line."),
        ('"text"', "a.jsonl: line 7 is not a JSON object; write one object per line."),
        (
            "{",
            "a.jsonl: line 7 is not JSON (Expecting property name enclosed in double quotes); write one object per",
        ),
        ('{"a": 1, "a": 2}', "a.jsonl: line 7 is not JSON ("),
    ],
)
def test_a_line_that_is_no_object_is_refused(line, sentence):
    with pytest.raises(DataError) as caught:
        json_object(line, PATH, 7)
    assert str(caught.value).startswith(sentence) and str(caught.value).endswith("; write one object per line.")


@pytest.mark.parametrize(
    ("name", "value"),
    [("a", {"b": {"c": 3}}), ("a.b", {"c": 3}), ("a.b.c", 3), ("a.x", None), ("a.b.c.d", None), ("b", None)],
)
def test_dots_reach_into_nested_fields(name, value):
    assert value_in({"a": {"b": {"c": 3}}}, name) == value


def test_rows_come_until_one_cannot_be_decoded():
    def rows():
        yield {"a": 1}
        raise OSError("no decoder for images\nand a long trace")

    read = dataset_rows(rows(), "hf:set")
    assert next(read) == {"a": 1}
    with pytest.raises(DataError) as caught:
        next(read)
    assert str(caught.value) == (
        "hf:set: record 2 cannot be read (no decoder for images); remove the column it is about."
    )
    assert list(dataset_rows([{"a": 1}, {"a": 2}], "hf:set")) == [{"a": 1}, {"a": 2}]


def test_a_data_set_is_loaded_from_its_folder_by_split(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"a": [1, 2]})
    rows.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": rows, "dev": rows.select([1])}).save_to_disk(tmp_path / "several")
    assert list(load_datasets(f"hf:{tmp_path / 'one'}", None, "train")) == [{"a": 1}, {"a": 2}]
    assert list(load_datasets(f"hf:{tmp_path / 'several'}", None, "dev")) == [{"a": 2}]
    for name, splits in (("one", "train"), ("several", "train, dev")):
        with pytest.raises(DataError) as caught:
            load_datasets(f"hf:{tmp_path / name}", None, "test")
        assert str(caught.value) == f'hf:{tmp_path / name}: there is no split "test"; it has {splits}.'


def test_a_data_set_without_a_name_is_refused():
    pytest.importorskip("datasets")
    with pytest.raises(DataError) as caught:
        load_datasets("hf:", None, "train")
    assert str(caught.value) == "hf:: the name of the data set is missing; write hf:NAME, or hf: and a folder."

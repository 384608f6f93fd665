"""Flags, files and key=value words become the overrides of a run."""

import pytest

from regard.cli.options import RUN_FLAGS, column, columns, label_columns, run_overrides
from regard.errors import ConfigError

NO_COLUMNS = {"source_column": None, "target_column": None, "valid_data": None}


@pytest.mark.parametrize(("word", "value"), [("0", 0), ("12", 12), ("text", "text"), ("-1", "-1"), ("+1", "+1")])
def test_digits_are_an_index_and_anything_else_is_a_name(word, value):
    assert column(word) == value


def test_columns_of_pairs_and_of_labeled_texts_become_settings():
    assert columns("de", "1", "data.train.") == {"data.train.source_column": "de", "data.train.target_column": 1}
    assert columns(None, None) == {}
    flags = {"text_column": ["a", "0"], "label_column": "y"}
    assert label_columns(flags, "x.") == {"x.text_column": "a", "x.second_column": 0, "x.label_column": "y"}
    assert label_columns({}) == {}


def test_a_third_text_column_is_refused():
    with pytest.raises(ConfigError, match="--text-column c: an example has one or two texts; leave this one out."):
        label_columns({"text_column": ["a", "b", "c"]})


def test_every_flag_overrides_its_setting_and_key_value_words_win():
    flags = {flag: f"value of {flag}" for flag in RUN_FLAGS} | {"valid_text": None} | NO_COLUMNS
    overrides = run_overrides(["seed=7", "train.steps=3"], flags)
    expected = {name: f"value of {flag}" for flag, name in RUN_FLAGS.items()} | {"seed": 7, "train.steps": 3}
    del expected["data.valid.paths"], expected["data.valid.path"]
    assert overrides == expected


def test_columns_apply_to_validation_data_where_there_are_some():
    flags = {"data": "a.csv", "valid_data": "b.csv", "source_column": "de", "target_column": None}
    assert run_overrides([], flags) == {
        "data.train.path": "a.csv",
        "data.valid.path": "b.csv",
        "data.train.source_column": "de",
        "data.valid.source_column": "de",
    }


def test_files_of_a_shell_pattern_belong_to_the_text(tmp_path):
    files = [tmp_path / name for name in ("a.txt", "b.txt")]
    for file in files:
        file.touch()
    names = [str(file) for file in files]
    flags = {"text": [names[0]], "valid_text": None} | NO_COLUMNS
    assert run_overrides([names[1], "seed=1"], flags) == {"data.train.paths": names, "seed": 1}
    with pytest.raises(ConfigError, match="is not a setting: write it as key=value"):
        run_overrides([str(tmp_path / "missing.txt")], flags)
    with pytest.raises(ConfigError, match="is not a setting"):  # it could belong to either
        run_overrides([names[1]], flags | {"valid_text": [names[0]]})

"""Flags, files and key=value words become the overrides of a run."""

import inspect
from typing import Annotated, Literal

import pytest
from pydantic import Field

from regard.cli.options import Flag, Given, column, options
from regard.cli.run_options import RUN_FLAGS, label_columns, run_overrides
from regard.config.resolve import resolve
from regard.config.settings import Settings
from regard.errors import ConfigError

NO_COLUMNS = {"source_column": None, "target_column": None, "valid_data": None}


@pytest.mark.parametrize(("word", "value"), [("0", 0), ("12", 12), ("text", "text"), ("-1", "-1"), ("+1", "+1")])
def test_digits_are_an_index_and_anything_else_is_a_name(word, value):
    assert column(word) == value


def test_columns_of_labeled_texts_become_settings():
    flags = {"text_column": ["a", "0"], "label_column": "y"}
    assert label_columns(flags, "x.") == {"x.text_column": "a", "x.second_column": 0, "x.label_column": "y"}
    assert label_columns({}) == {}


def test_a_third_text_column_is_refused():
    with pytest.raises(ConfigError, match="--text-column c: an example has one or two texts; leave this one out."):
        label_columns({"text_column": ["a", "b", "c"]})


def test_every_flag_overrides_its_setting_and_key_value_words_win():
    flags = {flag.name: f"value of {flag.name}" for flag in RUN_FLAGS.values()} | {"valid_text": None} | NO_COLUMNS
    overrides = run_overrides(["seed=7", "train.steps=3"], flags)
    expected = {name: f"value of {flag.name}" for name, flag in RUN_FLAGS.items()} | {"seed": 7, "train.steps": 3}
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


class Fields(Settings):
    size: int = Field(3, ge=1)
    """Number of things."""
    names: tuple[str, ...] = ()
    """Names of things."""
    keep: bool = True
    """Keep them."""
    kind: Literal["a", "b"] = "a"
    """a: one; b: the other."""
    where: str | int | None = None
    """Column (default: detected)."""
    share: Annotated[int, Field(ge=0)] | Annotated[float, Field(gt=0)] = 0.5
    """Fraction, or a number."""


MADE: list[Given] = []


@options(Fields)
def verb(given: Given, text: str, out: bool = False) -> None:
    MADE.append(given)


def made(*words: object, **flags: object) -> Given:
    """Return the options that a call gives."""
    verb(*words, **flags)
    return MADE.pop()


def test_options_are_made_of_fields():
    parameters = inspect.signature(verb).parameters
    assert list(parameters) == ["text", "out", "size", "names", "keep", "kind", "where", "share"]
    kinds = {name: each.annotation.__args__[0] for name, each in parameters.items() if name in Fields.model_fields}
    assert kinds == {
        "size": int | None,
        "names": list[str] | None,
        "keep": bool | None,
        "kind": str | None,
        "where": str | None,
        "share": str | None,
    }
    helps = {name: parameters[name].annotation.__metadata__[0].help for name in kinds}
    assert helps["size"] == "Number of things (default: 3)." and helps["where"] == "Column (default: detected)."


def test_values_are_read_as_their_fields_take_them_and_the_rest_is_none():
    given = made("x", where="0", share="0.25", names=["1"])
    assert given["where"] == 0 and given["share"] == 0.25 and given["names"] == ["1"] and given["size"] is None
    assert made("x", where="text", share="2")["where"] == "text" and made("x", share="2")["share"] == 2
    assert given.values_of(["size", "where"]) == {"where": 0}


def test_a_value_out_of_bounds_names_flag_and_setting():
    with pytest.raises(ConfigError) as error:
        resolve(Fields, made("x", size=0).layers(Fields.model_fields))
    assert str(error.value) == "size: 0 is out of range, it must be greater than or equal to 1 (from --size)."


def test_what_a_verb_does_with_its_options_is_in_one_place(capsys, monkeypatch):
    quiet = Given(quiet=True, json=True, threads=1, device="cpu")
    quiet.progress.warn("hidden")
    quiet.show({"a": [1]}, "not this")
    printed = capsys.readouterr()
    assert printed.out == '{\n  "a": [\n    1\n  ]\n}\n' and not printed.err and quiet.device == "cpu"
    Given().show({"a": 1}, "a line", (("name", "value"), [("a", "1")]))
    assert capsys.readouterr().out == "a line\nname\tvalue\na\t1\n" and Given().device == "auto"


def test_a_verb_takes_flags_and_the_fields_of_schemas_in_order():
    @options(Flag("more", str, "More."), Fields)
    def both(given: Given) -> None:
        assert given["more"] == "x" and given["size"] == 4

    assert list(inspect.signature(both).parameters)[:2] == ["more", "size"]
    both(more="x", size=4)

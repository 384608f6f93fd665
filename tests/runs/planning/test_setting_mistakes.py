"""Every setting of every task, given odd values: the place that is named is one, and in words that users know."""

import re

import pytest

from commands import bad, good
from regard.config.settings import setting_names
from regard.errors import ConfigError, RegardError
from regard.registry import task_names
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.contract import find_task

ODD = ["x", -1, 2**70, True, [1, "x"], {"x": 1}, "a\0b", "a\udcffb", {"a": {"b": "c"}}]
INNER = re.compile(
    r"function-|literal\[|tagged-|constrained|nullable|lax-or|json-or|\bInput\b|Value error|Invalid JSON|"
    r"[a-z]+[A-Z]\w*|(Settings|Source|Data)\b|[.](str|int|float|bool|tuple|dict)\b"
)
"""Words of pydantic, and names of classes."""


def source_of(name: str) -> dict:
    return {"paths": ["a.txt"]} if find_task(name).wording.data_flags.startswith("--text") else {"path": "a.csv"}


@pytest.mark.parametrize("name", task_names())
def test_the_place_of_a_mistake_is_a_setting(name):
    recipe = find_recipe(name)
    known = list(
        dict.fromkeys(setting_names(type(resolve_run(recipe, {"data": {"train": source_of(name)}}).settings)))
    )
    for setting in known:
        if setting in ("init_from", "vectors.path"):  # names of folders and files, which are looked for first
            continue
        for odd in ODD:
            changes = {} if setting.startswith("data") else {"data": {"train": source_of(name)}}
            try:
                resolve_run(recipe, {**changes, setting: odd})
            except RegardError as error:
                for sentence in str(error).split("\n"):
                    place = sentence.partition(": ")[0]
                    around = place.rpartition(".")[0] if "unknown setting" in sentence else place
                    is_known = around in ("", *known) or place.startswith(("data.test.", f"task {name}"))
                    assert is_known, (setting, odd, sentence)
                    said = re.sub(r'"[^"]*"', "", sentence)
                    assert not INNER.search(said), (setting, odd, sentence)
                    assert said.endswith((".", "?"))


def test_a_column_is_a_number_or_a_name():
    given = {"data": {"train": {"path": "a.csv", "source_column": -1}}}
    with pytest.raises(ConfigError) as error:
        resolve_run(find_recipe("translate"), given)
    assert str(error.value) == (
        "data.train.source_column: -1 is out of range, it must be greater than or equal to 0 (from the command line)."
    )
    given["data"]["train"]["source_column"] = True
    with pytest.raises(ConfigError, match="source_column: true is not text or a whole number"):
        resolve_run(find_recipe("translate"), given)


def test_the_model_of_a_recipe_without_one_is_planned(tmp_path):
    (tmp_path / "a.toml").write_text('task = "translate"\n[data.train]\npath = "a.tsv"\n')
    shown = good("config", "show", tmp_path / "a.toml")
    assert "model.encoder_layers\t" in shown and "planned: " in shown
    with pytest.raises(ConfigError, match="task: 5 is not one of translate, "):
        resolve_run(find_recipe("translate"), {"task": 5})
    with pytest.raises(ConfigError, match="data: 5 is not a table of settings"):
        resolve_run(find_recipe("translate"), {"data": 5})


def test_the_name_of_a_test_set_has_no_dots(tmp_path):
    sentence = 'data.test.a.b: the name of a test set has no dots; call it "a-b".'
    assert bad("config", "show", "translate", "data.train.path=x.tsv", "data.test.a.b.path=y.tsv") == sentence
    recipe = 'task = "translate"\n[data.train]\npath = "a.tsv"\n[data.test."a.b"]\npath = "b.tsv"\n'
    (tmp_path / "a.toml").write_text(recipe)
    assert bad("config", "show", tmp_path / "a.toml") == sentence

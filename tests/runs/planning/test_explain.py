"""Settings of a recipe have a value, a source and a meaning."""

import pytest

from regard.errors import ConfigError
from regard.runs.planning.explain import explain_key, explain_recipe
from regard.runs.planning.recipes import REQUIRED


def test_every_setting_of_a_task_has_a_value_and_most_have_a_meaning():
    rows = {each.name: each for each in explain_recipe("classify")}
    assert rows["data.train.path"].value == REQUIRED
    without = [name for name, each in rows.items() if not each.doc and not name.startswith("data.test")]
    assert without == []


@pytest.mark.parametrize(
    ("recipe", "words", "value", "source"),
    [
        ("translate", ["train.optimizer=sgd"], 0.001, "derived from train.schedule wsd"),
        ("translate", ["train.schedule=transformer"], 1.0, "derived from train.schedule transformer"),
        ("translate", ["train.learning_rate=0.5"], 0.5, "the command line"),
        ("vectors", [], 0.025, "derived from model.algorithm skip-gram"),
        ("vectors", ["model.algorithm=cbow"], 0.05, "derived from model.algorithm cbow"),
    ],
)
def test_a_derived_learning_rate_shows_its_value(recipe, words, value, source):
    row = {each.name: each for each in explain_recipe(recipe, words)}["train.learning_rate"]
    assert (row.value, row.source) == (value, source)


def test_a_planned_value_shows_its_reason():
    row = {each.name: each for each in explain_recipe("translate")}["train.learning_rate"]
    assert row.value < 0.005 and row.source.startswith("planned: width ")


def test_a_key_is_explained_with_the_tasks_that_have_it():
    setting, tasks = explain_key("masking.mask_fraction")
    assert setting.value == 0.15 and tasks == ["masked-language-model"]
    group, _ = explain_key("train", "translate")
    assert group.value["train.clip_norm"] == 1.0


@pytest.mark.parametrize(
    ("key", "recipe", "sentence"),
    [
        (
            "train.learning_rat",
            None,
            "train.learning_rat: there is no such setting; did you mean train.learning_rate?",
        ),
        (
            "masking.masked",
            "translate",
            "masking.masked: the recipe translate has no such setting; see regard config show.",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(key, recipe, sentence):
    with pytest.raises(ConfigError) as error:
        explain_key(key, recipe)
    assert str(error.value) == sentence

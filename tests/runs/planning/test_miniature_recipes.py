"""Recipes on the embedded world for encoders: each takes steps, from nothing and from the pretrained model."""

import pytest

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.run import Run
from regard.runs.train import train

SMALL = {"text.size": 400, "model.width": 16, "model.feed_forward_width": 32, "model.layers": 1, "model.heads": 2}
QUICK = {"train.steps": 3, "train.warmup": 1, "train.validate_every": 3, "machine.device": "cpu"}
RECIPES = {"reviews": "accuracy", "regress": "spearman", "tag": "f1", "answer": "f1"}


def few(recipe: str) -> dict[str, object]:
    """Return what makes a recipe quick: few examples of each of its sets, and three steps."""
    tests = resolve_run(find_recipe(recipe), {}).settings.data.test
    return QUICK | {f"data.{name}.max_rows": 30 for name in ("train", "valid", *(f"test.{each}" for each in tests))}


@pytest.fixture(scope="module")
def masked(tmp_path_factory) -> Run:
    out = tmp_path_factory.mktemp("masked")
    changes = {"data.folder": str(out / "corpus"), "train.tokens_per_update": 500}
    return train("masked-miniature", SMALL | few("masked-miniature") | changes, out=out / "run")


def test_the_pretraining_recipe_takes_steps(masked):
    assert masked.record.state == "finished"
    assert {"masked_accuracy", "next_sentence_accuracy"} <= set(masked.scores["test"])


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_takes_steps_from_nothing_and_from_the_pretrained_model(name, masked, tmp_path):
    recipe = f"{name}-miniature"
    plain = train(recipe, SMALL | few(recipe), out=tmp_path / "plain")
    begun = train(recipe, few(recipe) | {"init_from": str(masked.path)}, out=tmp_path / "begun")
    settings = resolve_run(find_recipe(recipe), {}).settings
    for run in (plain, begun):
        assert run.record.state == "finished" and run.record.steps == 3
        assert set(run.scores) == set(settings.data.test) and all(
            RECIPES[name] in found for found in run.scores.values()
        )
    assert "--init-from runs/masked-miniature" in settings.about

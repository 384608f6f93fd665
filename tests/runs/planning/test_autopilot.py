"""The plan of a run: below everything that is set, with a reason for each value, and kept by a resumed run."""

import pytest

from regard.config.overrides import nested
from regard.models.presets import presets
from regard.runs.planning import autopilot
from regard.runs.planning.recipes import Recipe, find_recipe, resolve_run


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "a").write_text("a few words here\n" * 3000)
    (tmp_path / "b").write_text("ein paar Wörter hier\n" * 3000)
    return {"data.train.source": str(tmp_path / "a"), "data.train.target": str(tmp_path / "b")}


def test_planned_values_name_their_reasons(pairs):
    resolved = resolve_run(find_recipe("translate"), pairs)
    assert resolved.source("text.size").startswith(f"{autopilot.PLANNED}: ")
    assert resolved.source("train.learning_rate") == "planned: width 256, 2 layers, pre-norm, updates of 512 tokens"
    assert resolved.settings.train.schedule == "wsd" and resolved.settings.train.ends_itself


def test_what_is_set_holds_and_the_rest_follows_from_it(pairs):
    wide = resolve_run(find_recipe("translate"), pairs | {"model.width": 512, "train.tokens_per_update": 8192})
    assert wide.source("model.width") == "the command line" and wide.settings.train.learning_rate == 9.8e-4
    fixed = resolve_run(find_recipe("translate"), pairs | {"train.learning_rate": 1e-4, "train.steps": 300})
    assert fixed.settings.train.learning_rate == 1e-4 and fixed.settings.train.schedule == "cosine"
    assert fixed.settings.train.warmup == 30 and fixed.settings.train.patience == 0


def test_a_preset_keeps_its_shape(pairs):
    chosen = resolve_run(find_recipe("translate"), pairs | {"model.preset": "transformer-base"}).settings.model
    published = presets()["transformer-base"].settings
    assert all(getattr(chosen, name) == value for name, value in published.items())
    assert resolve_run(find_recipe("translate"), pairs).settings.model.encoder_layers == 2  # none is named: planned


def test_a_gpu_gets_more_of_everything(pairs, monkeypatch):
    monkeypatch.setattr(autopilot, "_device", lambda name: "cuda")
    settings = resolve_run(find_recipe("translate"), pairs).settings
    assert settings.model.encoder_layers == 5 and settings.validation.bleu_sentences == 1000
    assert settings.train.select_by == "bleu" and settings.objective.r_drop > 0
    assert not settings.machine.compile
    large = resolve_run(find_recipe("translate"), pairs | {"model.preset": "transformer-base", "train.minutes": 30})
    assert large.settings.machine.compile and large.settings.machine.bf16_residual


def test_minutes_replace_the_length_of_a_recipe(pairs):
    recipe = Recipe(
        "own", "recipe own", {"task": "translate", **nested({"train.steps": 900, "train.schedule": "cosine"})}
    )
    timed = resolve_run(recipe, pairs | {"train.minutes": 5}).settings.train
    assert timed.schedule == "wsd" and timed.minutes == 5 and timed.steps > 900
    assert resolve_run(recipe, pairs).settings.train.steps == 900


def test_a_shorter_run_of_a_recipe_has_a_shorter_warm_up(pairs):
    values = {"task": "translate", **nested({"train.steps": 2000, "train.warmup": 1000, "train.schedule": "cosine"})}
    assert resolve_run(Recipe("own", "recipe own", values), pairs | {"train.steps": 200}).settings.train.warmup == 100
    assert values["train"]["warmup"] == 1000  # the recipe itself is not changed


def test_a_device_that_is_not_there_is_planned_for_by_its_name(pairs):
    resolved = resolve_run(find_recipe("translate"), pairs | {"machine.device": "cuda:7"})
    assert resolved.settings.model.encoder_layers == 5


@pytest.mark.parametrize("task", ["language-model", "masked-language-model", "elmo", "classify", "tag", "vectors"])
def test_every_task_is_planned(task, tmp_path):
    (tmp_path / "t.txt").write_text("a line of words\n" * 500)
    (tmp_path / "t.csv").write_text("text,label\n" + "a line,x\n" * 500)
    is_table = task in ("classify", "tag")
    data = (
        {"data.train.path": str(tmp_path / "t.csv")} if is_table else {"data.train.paths": [str(tmp_path / "t.txt")]}
    )
    resolved = resolve_run(find_recipe(task), data)
    sources = [source for source in resolved.sources.values() if source.startswith(autopilot.PLANNED)]
    assert sources


def warmup_of(recipe, **changes):
    values = {"data.train.path": "a.tsv"} | {f"train.{name}": value for name, value in changes.items()}
    return resolve_run(recipe, values).settings.train.warmup


def test_a_shorter_run_has_a_shorter_warm_up():
    plain, own = find_recipe("translate"), Recipe("own", "own.toml", {"task": "translate", "train": {"warmup": 1000}})
    assert warmup_of(plain, steps=200) == 20
    assert warmup_of(own, steps=200) == 20 and warmup_of(own, steps=5000) == 1000
    longer = Recipe("own", "own.toml", {"task": "translate", "train": {"warmup": 1000, "steps": 8000}})
    assert warmup_of(longer, steps=200) == 25 and warmup_of(longer, steps=1) == 0
    assert warmup_of(longer, steps=200, warmup=150) == 150  # what a user sets wins

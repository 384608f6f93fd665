"""Planned defaults of fine-tuning."""

from types import SimpleNamespace

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.finetune.planning import fine_tuning_defaults
from regard.tasks.finetune.settings import TRAIN, TuningTrainSettings
from regard.tasks.planning.inputs import PlanInput


def planned(init_from=None, given=(), minutes=None, **settings):
    model, train = SimpleNamespace(width=128), TuningTrainSettings(minutes=minutes)
    plan = PlanInput(
        SimpleNamespace(model=model, train=train, init_from=init_from, **settings), frozenset(given), None
    )
    return {each.setting: each.value for each in fine_tuning_defaults(plan, "accuracy")}


def test_a_head_from_scratch_has_a_rate_by_width():
    defaults = planned()
    assert defaults["train.learning_rate"] == 0.0005 and defaults["train.select_by"] == "accuracy"
    assert {f"train.{name}" for name in TRAIN} < set(defaults)


def test_a_pretrained_model_has_the_rate_of_its_kind():
    assert "train.learning_rate" not in planned(init_from="runs/bert")
    assert "train.learning_rate" not in planned(vectors=object())  # word embeddings


def test_updates_counted_in_tokens_are_not_counted_in_examples():
    assert "train.examples_per_update" not in planned(given=["train.tokens_per_update"])


def test_minutes_end_a_fine_tuning_too():
    defaults = planned(minutes=5)
    assert defaults["train.schedule"] == "wsd" and defaults["train.steps"] >= 10**7
    assert defaults["train.warmup"] >= 1 and isinstance(defaults["train.validate_every"], int)
    settings = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv", "train.minutes": 5}).settings
    assert settings.train.epochs is None and settings.train.schedule == "wsd" and settings.train.ends_itself
    own = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv"}).settings
    assert own.train.epochs == 10 and own.train.schedule == "linear"

"""Planned defaults of fine-tuning."""

from types import SimpleNamespace

from regard.tasks.finetune.planning import fine_tuning_defaults
from regard.tasks.finetune.settings import TRAIN
from regard.tasks.planning.inputs import PlanInput


def planned(init_from=None, given=(), **settings):
    model = SimpleNamespace(width=128)
    plan = PlanInput(SimpleNamespace(model=model, init_from=init_from, **settings), frozenset(given), None)
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

"""Planned defaults of fine-tuning."""

from types import SimpleNamespace

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.finetune.planning import fine_tuning_defaults
from regard.tasks.finetune.settings import TRAIN, TuningTrainSettings
from regard.tasks.planning.inputs import PlanInput, Survey
from regard.training.settings import OPEN_END


def planned(init_from=None, given=(), minutes=None, rows=None, **settings):
    model, train = SimpleNamespace(width=128, family="bert"), TuningTrainSettings(minutes=minutes)
    survey = None if rows is None else Survey(rows, 50 * rows)
    plan = PlanInput(
        SimpleNamespace(model=model, train=train, init_from=init_from, **settings), frozenset(given), survey
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


def test_few_rows_are_seen_more_often_in_smaller_updates():
    plans = [planned("runs/bert", rows=rows) for rows in (20, 50, 300, 1_000, 3_000, 10_000, 1_000_000)]
    epochs, examples = ([each[f"train.{name}"] for each in plans] for name in ("epochs", "examples_per_update"))
    assert epochs == [20, 20, 8, 10, 4, 3, 3] and examples == [8, 8, 8, 32, 32, 32, 32]
    updates = [count * rows / size for count, rows, size in zip(epochs, (20, 50, 300, 1_000), examples)]
    assert updates == sorted(updates)
    scratch = [planned(rows=rows)["train.epochs"] for rows in (50, 1_000, 10_000)]
    assert scratch == [40, 32, 10]


def test_epochs_are_planned_unless_a_length_is_given():
    assert planned("runs/bert")["train.epochs"] == 3 and planned()["train.epochs"] == 10
    assert planned("runs/bert", freeze_body=True)["train.epochs"] == 10
    chosen = planned(given=["train.epochs"], rows=50)
    assert "train.epochs" not in chosen and chosen["train.steps"] == OPEN_END
    assert not {"train.epochs", "train.steps"} & set(planned(given=["train.steps"], rows=50))
    assert planned("runs/a", given=["train.examples_per_update"], rows=50)["train.epochs"] == 20


def test_minutes_end_a_fine_tuning_too():
    defaults = planned(minutes=5)
    assert defaults["train.schedule"] == "wsd" and defaults["train.steps"] >= 10**7
    assert defaults["train.warmup"] >= 1 and isinstance(defaults["train.validate_every"], int)
    settings = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv", "train.minutes": 5}).settings
    assert settings.train.epochs is None and settings.train.schedule == "wsd" and settings.train.ends_itself
    own = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv"}).settings
    assert own.train.epochs == 10 and own.train.schedule == "linear"

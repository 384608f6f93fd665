"""The plan of a run: counted, printed in order, and nothing written."""

import pytest

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.runs.planning.plan import Plan, plan_run, preset_parameters
from regard.runs.planning.recipes import find_recipe, resolve_run


def test_a_plan_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sets = {f"data.test.{name}.max_rows": 5 for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")}
    changes = {"data.train.max_rows": 300, "data.valid.max_rows": 20, "text.size": 600} | sets
    settings = resolve_run(find_recipe("translate-miniature"), changes).settings
    plan, prepared = plan_run(settings)
    assert plan.data["train_pairs"] == 300 and plan.updates_per_epoch > 0 and plan.parameters > 100_000
    assert plan.updates == settings.train.steps and plan.epochs == round(plan.updates / plan.updates_per_epoch, 1)
    assert plan.parameters == sum(each.numel() for each in prepared.bundle.model.parameters())
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_the_clock_ends_counts_no_updates_before_they_are_measured(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"ein Hund {n}\ta dog {n}\n" for n in range(60)))
    words = {"data.train.path": str(pairs), "text.size": 300}
    plan, _ = plan_run(resolve_run(find_recipe("translate"), words | {"train.minutes": 1.5}).settings)
    assert (plan.updates, plan.epochs, plan.end) == (None, None, "within 1.5 minutes")
    assert ("updates", "–") in plan.rows()
    measured = plan.measured(120, 90.0)
    assert measured.rows()[-1] == ("training time", "about 1:30, in all")
    assert (measured.updates, measured.epochs) == (120, round(120 / plan.updates_per_epoch, 1))
    open_end, _ = plan_run(resolve_run(find_recipe("translate"), words).settings)
    assert open_end.end == "when validation stops improving or after the last update"
    fixed, _ = plan_run(resolve_run(find_recipe("translate"), words | {"train.steps": 40}).settings)
    assert (fixed.updates, fixed.end) == (40, "after the last update")


def test_epochs_are_counted_in_updates():
    words = {"data.train.max_rows": 300, "data.valid.max_rows": 20, "text.size": 600, "data.test.test.max_rows": 5}
    words |= {f"data.test.unseen-{part}.max_rows": 5 for part in ("pairs", "cases", "depth")}
    words |= {"train.epochs": 3, "train.tokens_per_update": 500}
    plan, _ = plan_run(resolve_run(find_recipe("translate-miniature"), words).settings)
    assert plan.updates == 3 * plan.updates_per_epoch and plan.epochs == 3


def test_the_sizes_of_the_data_follow_those_of_the_model():
    plan = Plan("tag", "bert-tiny", 10, 20, 30, 40, 0.8, "cpu", {"examples": 50})
    assert list(plan.to_dict()) == [
        "task",
        "preset",
        "parameters",
        "vocabulary",
        "examples",
        "updates",
        "updates_per_epoch",
        "epochs",
        "device",
        "seconds",
        "end",
        "planned",
    ]
    assert plan.data == {"examples": 50}  # to_dict changes nothing


@pytest.mark.parametrize("name", ["transformer-tiny", "gpt-tiny", "bert-tiny", "lstm-attention"])
def test_a_preset_is_counted_as_it_is_built(name):
    settings = family(preset(name).settings["family"]).settings(**preset(name).settings)
    model = build_model(settings, Vocabularies(300, 300, is_shared=True))
    assert preset_parameters(name, 300) == sum(each.numel() for each in model.parameters())

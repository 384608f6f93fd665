"""Calls of the façade that are made of several lower ones."""

import pytest

from every_task import TASKS
from regard import api
from regard.errors import ConfigError


def test_tasks_presets_and_recipes_are_listed_by_name():
    assert set(TASKS) <= set(api.tasks())
    assert api.presets()["bert-tiny"].name == "bert-tiny" and "translate-miniature" in api.recipes()


def test_a_plan_has_the_sizes_of_the_run_that_would_be_trained(tmp_path):
    plan = api.plan("classify", TASKS["classify"].overrides(tmp_path))
    assert (plan.task, plan.preset, plan.updates) == ("classify", "bert-tiny", 4) and plan.parameters > 1000
    with pytest.raises(ConfigError, match="There is no recipe"):
        api.plan("no-such-recipe")


def test_runs_of_a_folder_are_summaries(tmp_path):
    assert api.runs(tmp_path) == []


def test_races_and_transfers_take_their_parts_as_arguments(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(api, "run_race", lambda lineup, budget, **rest: calls.append((lineup, budget, rest)))
    monkeypatch.setattr(api, "run_transfer", lambda study, **rest: calls.append((study, rest)))
    api.race("translate-miniature", ["rnn-small"], budget="10 updates", vary="model.width", out=tmp_path)
    lineup, budget, rest = calls[0]
    assert (lineup.recipe, lineup.models, lineup.vary, budget) == (
        "translate-miniature",
        ["rnn-small"],
        "model.width",
        "10 updates",
    )
    api.transfer({"path": "a.csv"}, sizes=["20"], out=tmp_path)
    assert calls[1][0].data == {"path": "a.csv"} and calls[1][0].sizes == ["20"] and calls[1][0].methods
    assert rest["out"] == calls[1][1]["out"] == tmp_path

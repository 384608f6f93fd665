"""A tuning: rounds of trials, stopped and resumed, and the recipe that it ends in."""

import json
import signal
import tomllib

import pytest

import regard
from every_task import TASKS
from labeled import Telling, write_reviews
from regard.config.overrides import parse_overrides
from regard.errors import ConfigError, RunError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.studies.race.budget import Budget
from regard.studies.race.records import PlannedRecord
from regard.studies.tune import tune as module
from regard.studies.tune.candidates import PLAIN, Candidate, candidates, combined, named
from regard.studies.tune.folder import RECIPE
from regard.studies.tune.tune import Session, best_of, tune
from regard.tasks.contract import find_task
from regard.tasks.planning.inputs import Doubt
from regard.training.reports.metrics_log import METRICS

SMALL = {
    "model.width": 16,
    "model.feed_forward_width": 32,
    "model.heads": 2,
    "model.layers": 1,
    "model.max_positions": 64,
    "model.preset": "bert-tiny",
    "text.size": 300,
    "machine.threads": 1,
}


@pytest.fixture
def brief(monkeypatch):
    """Trials of a few updates, longer in each round, without a measured pace."""
    asked = []

    def plan_member(settings, budget, shared, progress):
        asked.append(budget.amount)
        return PlannedRecord(steps=round(3 * (1 + len({round(each, 6) for each in asked}))), parameters=1)

    monkeypatch.setattr(module, "plan_member", plan_member)
    return asked


@pytest.fixture
def data(tmp_path):
    return SMALL | {"data.train.path": str(write_reviews(tmp_path / "a.csv", 120))}


def test_every_round_is_trained_and_a_recipe_written(brief, data, tmp_path):
    told = Telling()
    done = tune("classify", data, minutes=2, out=tmp_path / "it", progress=told)
    results, rounds = done.results, done.record.rounds
    assert [len(each) for each in rounds] == [7, len(rounds[1]), 2] and 2 <= len(rounds[1]) <= 5
    assert all(PLAIN in each for each in rounds)
    total = sum(seconds for seconds in brief)
    assert total == pytest.approx(2 * 60 * module.TRAINED)
    assert {trial["round"] for trial in results["trials"]} == {1, 2, 3}
    assert results["winner"] in rounds[2] and results["verdict"] in told.said
    assert "difference" in results["verdict"] or "95 % interval" in results["verdict"]
    values = tomllib.loads(done.recipe.read_text())
    assert values["task"] == "classify" and "steps" not in values.get("train", {})
    resolved = resolve_run(find_recipe(str(done.recipe)), {}).settings
    changes = next(each["changes"] for each in results["trials"] if each["name"] == results["winner"])
    for name, value in changes.items():
        group, _, setting = name.partition(".")
        assert getattr(getattr(resolved, group), setting) == pytest.approx(value)


def test_a_stopped_tuning_is_resumed_by_the_same_call(brief, data, tmp_path):
    class Stopper:
        has_pressed = False

        def __call__(self, standings):
            if not self.has_pressed and len(standings) == 3 and standings[-1].step >= 2:
                self.has_pressed = True
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="The same command resumes it"):
        tune("classify", data, minutes=2, out=tmp_path / "it", show=Stopper())
    done = [each.name for each in (tmp_path / "it" / "runs").iterdir()]
    assert len(done) == 3
    before = (tmp_path / "it" / "runs" / done[0] / METRICS).stat().st_mtime_ns
    lengths = json.loads((tmp_path / "it" / "tune.json").read_text())["rounds"][0]
    resumed = tune("classify", data, minutes=2, out=tmp_path / "it")
    assert resumed.record.rounds[0] == {name: PlannedRecord(**each) for name, each in lengths.items()}
    first = next(each for each in done if each.startswith("1-plan"))
    assert (tmp_path / "it" / "runs" / first / METRICS).exists() and before
    whole = tune("classify", data, minutes=2, out=tmp_path / "other")
    scores = lambda tuning: [(trial["name"], trial["round"], trial["score"]) for trial in tuning.results["trials"]]
    assert scores(resumed)[:7] == scores(whole)[:7]
    with pytest.raises(RunError, match="its minutes is 2.0, not 3.0"):
        tune("classify", data, minutes=3.0, out=tmp_path / "it")


def test_a_trial_that_fails_is_left_out(brief, data, tmp_path, monkeypatch):
    train = Session._train

    def failing(self, number, candidate, steps):
        if candidate.name.startswith("learning_rate"):
            raise RunError("it diverged.")
        return train(self, number, candidate, steps)

    monkeypatch.setattr(Session, "_train", failing)
    told = Telling()
    done = tune("classify", data, minutes=2, out=tmp_path / "it", progress=told)
    assert sum("it diverged. The tuning continues without it." in each for each in told.warned) == 2
    assert sum(each["score"] is None for each in done.results["trials"]) == 2
    assert not any("learning_rate" in name for name in done.record.rounds[2])


def resolved(task, **changes):
    settings = {"data.train.path": "a"} if task != "language-model" else {"data.train.paths": ["a"]}
    return resolve_run(find_recipe(task), settings | changes)


@pytest.mark.parametrize("task", [name for name in TASKS if name != "vectors"])
def test_every_task_has_three_doubts(task):
    settings = resolve_run(find_recipe(task), {"data.train": find_task(task).file_source("a")})
    found = candidates(find_task(task), settings, frozenset())
    names = {name for each in found for name in each.changes}
    assert found[0] == Candidate(PLAIN, {}) and len(names) == 3 and len(found) == 7
    assert len({each.name for each in found}) == len(found)


def test_values_of_the_user_are_not_doubted():
    task = find_task("classify")
    found = candidates(task, resolved("classify"), frozenset({"train.learning_rate"}))
    assert not any("train.learning_rate" in each.changes for each in found)
    with pytest.raises(ConfigError, match="Nothing is left to tune: the doubtful settings of classifiers"):
        candidates(task, resolved("classify"), frozenset(each.setting for each in task.doubts))


def test_other_values_are_factors_or_neighbors():
    settings = resolved("classify", **{"train.learning_rate": 1e-3, "model.dropout": 0.1}).settings
    assert Doubt("train.learning_rate", (0.5, 2.0)).candidates(settings) == [5e-4, 2e-3]
    assert Doubt("train.examples_per_update", (0.5, 2.0)).candidates(settings) == [16, 64]
    assert Doubt("model.dropout", values=(0.0, 0.1, 0.2, 0.3)).candidates(settings) == [0.0, 0.2]
    assert Doubt("model.nothing", (2.0,)).candidates(settings) == []


def test_changes_that_helped_are_combined_the_best_of_each_setting():
    one, two, three = (Candidate(named(each), each) for each in ({"a.x": 2}, {"a.y": 3}, {"a.x": 4}))
    both = combined([one, two, three])
    assert both is not None and dict(both.changes) == {"a.x": 2, "a.y": 3} and both.name == "combined"
    assert combined([one, three]) is None and combined([]) is None
    assert named({"train.learning_rate": 0.001}) == "learning_rate-0.001"


def test_word_vectors_are_not_tuned(tmp_path):
    place = parse_overrides(TASKS["vectors"].words(tmp_path / "data")[1:])
    with pytest.raises(ConfigError, match="Word vectors have their own trainer, without trials"):
        tune("vectors", place, out=tmp_path / "it")


def test_the_best_validation_ranks(tmp_path):
    from regard.runs.run import Run

    lines = [{"step": 1, "valid_loss": 2.0, "valid_f1": 0.5}, {"step": 2, "valid_loss": 3.0, "valid_f1": 0.7}]
    (tmp_path / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert best_of(Run(tmp_path), "loss") == 2.0 and best_of(Run(tmp_path), "f1") == 0.7
    with pytest.raises(RunError, match="it was never validated"):
        best_of(Run(tmp_path), "bleu")


def test_it_is_a_call_of_the_package():
    assert regard.tune is not None and Budget("seconds", 1.0).kind == "seconds" and RECIPE == "recipe.toml"

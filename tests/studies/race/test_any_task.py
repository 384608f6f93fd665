"""Races of tasks that have no report of their own."""

import json
from dataclasses import replace

import pytest

from labeled import write_reviews
from racing import results_of, stopped_race
from regard import miniature
from regard.errors import ConfigError
from regard.registry import task_names
from regard.studies.race.any_task import discipline
from regard.studies.race.disciplines import Discipline, SharedData, ranked
from regard.studies.race.entrants import Lineup, enter
from regard.studies.race.race import race
from regard.studies.race.results import collect
from regard.studies.race.text_report import TextRace
from regard.studies.race.translating import TranslationRace
from regard.tasks.contract import find_task
from tuning import BERT, SMALL_BERT

TINY = {"train.warmup": 1, "train.log_every": 2, "machine.threads": 1}


def lineup_of(task, folder):
    """Return two members of a race of a task that takes seconds."""
    if task == "classify":
        write_reviews(folder / "reviews.csv", 80)
        data = {"data.train.path": str(folder / "reviews.csv")}
        settings = {
            name: value for name, value in BERT.items() if name not in ("train.steps", "train.validate_every")
        }
        return Lineup("classify", vary="pooling=token,mean", overrides=settings | TINY | data)
    (folder / "a.txt").write_text("\n\n".join(miniature.documents("train", 60)), encoding="utf-8")
    data = {"data.train.paths": [str(folder / "a.txt")], "data.folder": str(folder / "corpus")}
    small = {f"model.{name}": value for name, value in SMALL_BERT.items()} | {"text.size": 300}
    return Lineup(
        "masked-language-model",
        ["bert-tiny", "bert-base"],
        overrides=small | TINY | {"train.tokens_per_update": 256} | data,
    )


@pytest.fixture(scope="module", params=["classify", "masked-language-model"])
def raced(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    lineup = lineup_of(request.param, folder)
    return lineup, race(lineup, "6 steps", out=folder / "race")


def test_a_race_of_any_task_ends_in_runs_results_and_a_report(raced):
    lineup, found = raced
    results, task = found.results, find_task(found.results["task"])
    assert found.is_finished and len(results["members"]) == 2 and not results["failed"]
    records = [found.run(each["name"]).record for each in results["members"]]
    assert len({record.report.hash for record in records}) == 1
    validated = [metric for metric in task.metrics_of(enter(lineup)[0].settings) if metric.is_validated]
    assert [column["key"] for column in results["columns"]] == [metric.key for metric in validated]
    for member, record in zip(results["members"], records, strict=True):
        (score,) = record.scores.values()
        assert member["loss"] == score["loss"] and member[validated[0].key] == score[validated[0].key]
        assert member["steps"] == 6 and len(member["curve"]) == 6 and member["parameters"] == record.parameters
    best = max(member[validated[0].key] for member in results["members"])
    assert ranked(results)[0][validated[0].key] == best


def test_the_report_names_data_metrics_and_conditions(raced):
    _, found = raced
    results, text = found.results, found.report.read_text(encoding="utf-8")
    labels = "".join(f"<th>{column['label']}</th>" for column in results["columns"])
    assert f"<th>model</th>{labels}<th>parameters</th>" in text
    assert "<h2>Loss over training time</h2>" in text and "<h2>Conditions</h2>" in text
    assert {path.stem for path in found.path.glob("*.png")} == {"loss-time"} and text.count("<svg") == 1
    assert {
        "classify": "; the same 68 examples, tokenizer and seed (1); scored on valid (12 examples).",
        "masked-language-model": " tokens, tokenizer and seed (1); scored on valid (",
    }[results["task"]] in text
    assert {
        "classify": "32 examples per update;",
        "masked-language-model": "About 256 tokens per update;",
    }[results["task"]] in text


def test_an_interrupted_race_of_any_task_ends_as_one_never_disturbed(raced, tmp_path):
    lineup, straight = raced
    second = straight.results["members"][1]["name"]
    stopped = stopped_race(lineup, "6 steps", tmp_path / "race", second, 3)
    assert not stopped.is_finished and stopped.results["waiting"] == [second]
    assert "The same command resumes the race." in stopped.report.read_text(encoding="utf-8")
    assert results_of(race(lineup, "6 steps", out=tmp_path / "race")) == results_of(straight)


def test_two_epochs_are_as_many_steps_as_their_tokens(raced, tmp_path, monkeypatch):
    lineup, _ = raced
    monkeypatch.setattr("regard.studies.race.race._Session.run", lambda self: None)
    (member, *_) = enter(lineup)
    shared = SharedData(member.settings)
    tokens = shared.task.train_tokens(shared.trial_setup(member.settings).prepared)
    plans = [
        race(lineup, budget, out=tmp_path / budget).record.plan for budget in ("2 epochs", f"{2 * tokens} tokens")
    ]
    assert plans[0] == plans[1] and len({planned.steps for planned in plans[0].values()}) == 1
    assert tokens > 100 and next(iter(plans[0].values())).steps >= 4


def test_without_a_budget_the_epochs_of_the_recipe_are_trained(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.studies.race.race._Session.run", lambda self: None)
    lineup = lineup_of("classify", tmp_path)
    plain = race(lineup, out=tmp_path / "plain").record
    assert plain.asked.budget == "40 epochs"  # few rows are seen more often
    assert {planned.steps for planned in plain.plan.values()} == {80}  # an epoch has two updates of 34 examples
    short = replace(lineup, overrides=lineup.overrides | {"train": {"steps": 4}})
    assert race(short, out=tmp_path / "short").record.asked.budget == "4 steps"
    with pytest.raises(
        ConfigError, match='train.steps: the budget is already 10m; leave one of them out, or give --budget "4'
    ):
        race(short, "10m", out=tmp_path / "both")


def test_a_run_that_validation_ends_needs_a_budget_in_a_race_and_a_time_limit_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.studies.race.race._Session.run", lambda self: None)
    open_end = lineup_of("masked-language-model", tmp_path)
    with pytest.raises(ConfigError, match="--budget: validation ends such a run"):
        race(open_end, out=tmp_path / "none")
    limited = replace(open_end, overrides=open_end.overrides | {"train.minutes": 0.05})
    record = race(limited, out=tmp_path / "limited").record
    assert record.asked.budget == "3s" and max(each.steps for each in record.plan.values()) < 10_000


def test_the_standings_show_the_validated_metric_of_the_task(raced, tmp_path):
    lineup, found = raced
    shown = []
    race(
        lineup, "6 steps", out=found.path, show=lambda standings: shown.append([replace(each) for each in standings])
    )
    task, members = find_task(found.results["task"]), found.results["members"]
    metric = next(metric for metric in task.metrics if metric.is_validated)
    assert [standing.score_name for standing in shown[-1]] == [metric.label] * 2
    assert [standing.score for standing in shown[-1]] == [member[metric.key] for member in members]


def test_a_run_without_a_log_line_has_the_mean_speed_of_its_training_loop(raced):
    _, found = raced
    name = found.results["members"][0]["name"]
    run, metrics = found.run(name), found.run(name).path / "metrics.jsonl"
    state = json.loads((run.latest / "training" / "state.json").read_text())["loop"]
    lines = metrics.read_text()
    metrics.write_text("".join(line + "\n" for line in lines.splitlines() if "tokens_per_second" not in line))
    measured = {name: json.loads(found.measures(name).read_text())}
    (member,) = collect(found, {}, measured, [name])["members"]
    metrics.write_text(lines)
    assert member["times"]["tokens_per_second"] == state["tokens_seen"] / max(state["seconds"], 0.1) > 0


def test_every_task_with_trials_has_a_discipline():
    disciplines = {name: type(discipline(find_task(name))) for name in task_names() if find_task(name).has_trials}
    assert disciplines["translate"] is TranslationRace and disciplines["language-model"] is TextRace
    assert all(disciplines[name] is Discipline for name in disciplines.keys() - {"translate", "language-model"})

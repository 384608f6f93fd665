import json
import shutil

import pytest

from regard.errors import RunError
from regard.studio.settings import StudioSettings
from regard.studio.views.runs import (
    RunRequest,
    RunsRequest,
    SamplesRequest,
    settings_of,
    show_run,
    show_runs,
    show_samples,
)


@pytest.fixture
def settings(studio_runs):
    return StudioSettings(runs=studio_runs)


def test_all_runs_are_listed_and_a_broken_one_is_shown_as_broken(settings):
    lines = {each.name: each for each in show_runs(settings, RunsRequest()).runs}
    assert lines["broken"].is_broken and "run.json" in lines["broken"].reason and not lines["broken"].views
    assert lines["translator"].metric == "BLEU" and lines["translator"].noun == "a translator"
    assert {"attention", "tree", "steps", "intervene"} <= set(lines["translator"].views)
    assert lines["vectors"].views == ["map"] and "words" in lines["classify"].views
    assert "generate" in lines["language-model"].views and "gates" in lines["elmo"].views
    assert not any(each.is_alive for each in lines.values())


def test_a_folder_that_is_not_there_yet_is_empty(tmp_path):
    assert show_runs(StudioSettings(runs=tmp_path / "none"), RunsRequest()).runs == []


def test_a_run_has_the_curves_of_its_metrics(settings, studio_runs):
    view = show_run(settings, RunRequest(run="translator"))
    lines = [json.loads(line) for line in (studio_runs / "translator" / "metrics.jsonl").read_text().splitlines()]
    loss = next(each for each in view.panels if each.title.startswith("loss"))
    valid = next(each for each in loss.lines if each.name == "valid")
    assert valid.values == [line["valid_loss"] for line in lines if "valid_loss" in line]
    assert view.state == "finished" and view.step == lines[-1]["step"] and "# " in view.card
    steps = next(each for each in view.settings if each.name == "train.steps")
    assert steps.value == "60" and steps.source == "the command line"


@pytest.mark.parametrize("state", ["interrupted", "running"])
def test_a_run_that_was_stopped_has_steps_to_go(studio_runs, tmp_path, state):
    shutil.copytree(studio_runs / "translator", tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"state": state, "steps": 23}))
    (tmp_path / "run" / "metrics.jsonl").write_text('{"step": 20, "loss": 1.0}\n')
    view = show_run(StudioSettings(runs=tmp_path), RunRequest(run="run"))
    assert (view.step, view.steps) == (23, 60)


@pytest.mark.parametrize("name", ["../elsewhere", "", ".", "/etc", "a\x00b"])
def test_nothing_outside_of_the_folder_is_read(settings, name):
    with pytest.raises(RunError, match="is not below"):
        show_run(settings, RunRequest(run=name))


def test_samples_are_translations_of_validation(translator):
    samples = show_samples(translator, SamplesRequest(model="m", count=3)).samples
    assert len(samples) == 3
    for each in samples:
        assert each.output == translator(each.source).text and each.reference


def test_settings_keep_their_sources():
    shown = settings_of({"train": {"steps": 5, "betas": [0.9, 0.98]}}, {"train.steps": "planned: short"})
    assert [(each.name, each.value, each.source) for each in shown] == [
        ("train.steps", "5", "planned: short"),
        ("train.betas", "0.9, 0.98", "default"),
    ]

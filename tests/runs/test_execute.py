"""The execution of a run: its record, and what differs when it is stopped, unscored or resumed elsewhere."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from every_task import TASKS
from regard.checkpoint.bundle import read_bundle
from regard.checkpoint.facts import TaskFacts
from regard.errors import ConfigError, DataError, RunError, RunInterrupted
from regard.progress import Progress
from regard.runs.execute import RunSpec, _compare, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.reports.card import _head
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.tasks.contract import find_task
from regard.tasks.init_from import run_context
from regard.training.device.machine import prepare_machine
from regard.version import __version__


class Recorder(Progress):
    def __init__(self):
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)


@pytest.fixture
def spec(tmp_path) -> RunSpec:
    overrides = TASKS["classify"].overrides(tmp_path / "data")
    return RunSpec(resolve_run(find_recipe("classify"), overrides), is_scored=False)


def test_the_record_of_a_run_that_begins_holds_its_settings_and_process(spec):
    begins = spec.begins
    assert begins["task"] == "classify" and begins["regard"] == __version__ and begins["process"]["pid"] > 0
    assert begins["settings"] == spec.resolved.settings.model_dump(mode="json")
    json.dumps(begins)


def test_a_run_that_is_not_scored_has_neither_scores_nor_a_card(spec, tmp_path):
    run = execute(Run(tmp_path / "run"), spec)
    assert run.state == "finished" and run.record.steps == 4 and run.scores == {} and run.passports == {}
    assert not (run.path / "README.md").exists()
    weights = read_bundle(run.best).model.parameters()
    assert run.record.parameters == sum(each.numel() for each in weights)


def test_a_run_stopped_at_a_step_is_resumed_from_there(spec, tmp_path):
    run = execute(Run(tmp_path / "run"), replace(spec, stop_at=2))
    assert run.state == "interrupted" and run.record.steps == 2
    assert execute(run, replace(spec, start="resume")).record.steps == 4


def test_data_that_several_runs_share_is_not_loaded_again(spec, tmp_path, monkeypatch):
    settings, task = spec.resolved.settings, find_task("classify")
    machine = prepare_machine(settings.machine)
    alone = execute(Run(tmp_path / "alone"), spec)
    data = task.load_data(settings, run_context(settings, machine))
    monkeypatch.setattr(type(task), "load_data", None)  # must not be called
    shared = execute(Run(tmp_path / "shared"), replace(spec, data=data))
    assert shared.record.report == alone.record.report
    weights = [(run.latest / "model.safetensors").read_bytes() for run in (alone, shared)]
    assert weights[0] == weights[1]


def test_data_is_refused_before_a_model_is_built(spec, tmp_path, monkeypatch):
    monkeypatch.setattr(type(find_task("classify")), "build", None)  # must not be called
    source = Path(spec.resolved.settings.data.train.path)
    source.write_text("text,label\n,pos\n")
    with pytest.raises(DataError, match=f"{source.name}: no example has"):
        execute(Run(tmp_path / "run"), spec)
    assert not (tmp_path / "run").exists()


def test_other_data_is_refused_and_another_machine_is_reported(quick_run):
    record, recorder = quick_run.record, Recorder()
    same = SimpleNamespace(report=record.report)
    machine = record.machine.plain
    _compare(record, same, machine, recorder, force=False)
    assert recorder.warnings == []
    _compare(record, same, machine | {"device": "abacus"}, recorder, force=False)
    assert recorder.warnings == [
        "device was cpu and is abacus now: the run continues, but not to the bit as it would have."
    ]
    other = SimpleNamespace(report=SimpleNamespace(hash="other"))
    with pytest.raises(RunError, match="The training data is not what the run began with, so resuming would not"):
        _compare(record, other, machine, recorder, force=False)
    _compare(record, other, machine, recorder, force=True)
    assert recorder.warnings[1:] == [
        "The training data is not what the run began with; continuing with it as it is now."
    ]


class Signaling(Progress):
    """Sends a signal to this process when training begins, and keeps all messages."""

    def __init__(self, number):
        self.number, self.messages = number, []

    def info(self, message):
        self.messages.append(message)

    def bar(self, title, total=None, done=0):
        if title == "train":
            signal.raise_signal(self.number)
        return super().bar(title, total, done)


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, RunInterrupted)])
def test_a_signal_saves_and_raises_and_the_run_can_be_resumed(spec, tmp_path, number, error):
    run = Run(tmp_path / "run")
    with pytest.raises(error) as stop:
        execute(run, spec, Signaling(number))
    assert str(stop.value) == f"Stopped at step 1; everything is saved.\nResume: regard train --resume {run.path}"
    assert run.state == "interrupted" and run.has_checkpoint
    heard = Signaling(0)
    heard.bar = Progress().bar
    assert resume(run.path, progress=heard).state == "finished"
    lines = [message for message in heard.messages if message.startswith("step ")]
    assert lines and all("train loss" in line and "valid loss" in line and line.endswith(" left") for line in lines)


def test_languages_are_in_the_checkpoint_and_the_card(tmp_path):
    overrides = TASKS["classify"].overrides(tmp_path / "data") | {"languages": ["de", "pt-BR"]}
    run = execute(Run(tmp_path / "run"), RunSpec(resolve_run(find_recipe("classify"), overrides), is_scored=False))
    assert TaskFacts.read(read_bundle(run.best)).languages == ["de", "pt-BR"]
    assert "Languages: `de`, `pt-BR`." in "\n".join(_head(run, run.record))
    with pytest.raises(ConfigError, match='languages: "German" is not a language code; write codes such as de, en'):
        resolve_run(find_recipe("classify"), overrides | {"languages": ["German"]})

"""The checks of the data before training: quick or all, and silent where nobody listens."""

from types import SimpleNamespace

import pytest

from regard.progress import SILENT, Progress
from regard.runs.preflight import preflight, run_checks
from regard.tasks.declarations import Check
from regard.tasks.findings import Finding


class Recorder(Progress):
    def __init__(self):
        self.messages, self.warnings = [], []

    def info(self, message):
        self.messages.append(message)

    def warn(self, message):
        self.warnings.append(message)


@pytest.fixture
def settings(monkeypatch):
    """Settings of a task with two checks, whose findings are given with the data."""
    every = Check("text", lambda data: data["all"], lambda data: data["quick"])
    none = Check("sizes", lambda data: [], lambda data: [])
    task = SimpleNamespace(checks=lambda: (every, none))
    monkeypatch.setattr("regard.runs.preflight.find_task", lambda name: task)
    return SimpleNamespace(task="stub", init_from=None, preflight=True)


def checked(**findings):
    return {"all": [], "quick": []} | findings


def finding(severity: str, name: str = "few", **parts) -> Finding:
    return Finding("text", name, severity, f"A {severity}.", **parts)


def test_all_checks_or_their_quick_part_are_run(settings):
    data = checked(all=[finding("note"), finding("ok")], quick=[finding("ok")])
    assert [each.severity for each in run_checks(settings, data)] == ["note", "ok"]
    assert [each.severity for each in run_checks(settings, data, is_quick=True)] == ["ok"]


def test_a_pretrained_model_s_tokenizer_and_size_are_not_reported(settings):
    data = checked(all=[finding("warning", "vocabulary"), finding("warning", "few")])
    assert len(run_checks(settings, data)) == 2
    settings.init_from = "runs/bert"
    assert [each.name for each in run_checks(settings, data)] == ["few"]


def test_warnings_and_problems_are_reported_with_their_remedies(settings):
    recorder = Recorder()
    quick = [finding("ok"), finding("note"), finding("warning"), finding("problem", remedy="add text")]
    preflight(settings, checked(quick=quick), recorder)
    assert recorder.warnings == ["text: A warning.", "problem in text: A problem. Remedy: add text."]
    assert recorder.messages == [
        "More about this, with examples: regard doctor; preflight=false leaves these checks out."
    ]


def test_nothing_is_reported_when_all_is_well(settings):
    recorder = Recorder()
    preflight(settings, checked(quick=[finding("note")]), recorder)
    assert recorder.warnings == recorder.messages == []


def test_nothing_is_checked_when_nobody_listens_or_it_is_switched_off(settings):
    preflight(settings, None, SILENT)
    settings.preflight, recorder = False, Recorder()
    preflight(settings, None, recorder)
    assert recorder.warnings == recorder.messages == []

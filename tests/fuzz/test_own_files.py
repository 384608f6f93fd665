"""Whatever stands in a file that regard has written, it is used or refused in a sentence."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import regard
from every_task import TASKS
from fuzz.bounds import fuzzed, only_mistakes
from fuzz.folders import copy_run, predict, refresh_manifest
from fuzz.mutations import damaged_bytes, damaged_json
from regard.runs.run import Run
from regard.runs.store.listing import list_runs
from regard.runs.verify import differences
from regard.training.reports.metrics_log import read_metrics

CHECKPOINT_FILES = ("config.json", "tokenizer.json", "model.safetensors", "manifest.json")


def damage(data: st.DataObject, path: Path) -> None:
    """Put something odd into a file: at one place of its JSON, or anywhere in its bytes."""
    content = path.read_bytes()
    is_json = path.suffix == ".json" and data.draw(st.integers(0, 3)) > 0
    if is_json:
        path.write_text(json.dumps(data.draw(damaged_json(json.loads(content)))))
    else:
        path.write_bytes(data.draw(damaged_bytes(content)))


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_run_is_used(task, tiny_runs):
    assert predict(tiny_runs / task, task) is not None


@pytest.mark.parametrize("task", TASKS)
@fuzzed(12)
@given(data=st.data())
def test_a_damaged_checkpoint_is_used_or_refused(task, tiny_runs, data):
    with tempfile.TemporaryDirectory() as folder:
        run = copy_run(tiny_runs / task, Path(folder))
        name = data.draw(st.sampled_from(CHECKPOINT_FILES))
        file = Run(run).best / name
        if not file.exists():  # two tokenizers have two names
            file = next(file.parent.glob("tokenizer*.json"))
        damage(data, file)
        if name != "manifest.json" and data.draw(st.booleans()):
            refresh_manifest(file.parent)
        with only_mistakes():
            predict(run, task)


def _resume(run: Path) -> None:
    regard.resume(run, {"train.steps": 5})


VERBS: dict[str, Callable[[Path], Any]] = {
    "record": lambda run: Run(run).record,
    "list": lambda run: list_runs(run.parent),
    "card": lambda run: Run(run).card(),
    "load": lambda run: regard.load(run, device="cpu"),
    "metrics": lambda run: read_metrics(run / "metrics.jsonl"),
    "verify": lambda run: differences(Run(run), Run(run)),
}
FILES = ("run.json", "metrics.jsonl", "checkpoints/index.json")


@pytest.mark.parametrize("verb", VERBS)
@fuzzed(12)
@given(data=st.data())
def test_a_damaged_run_is_used_or_refused(verb, tiny_runs, data):
    with tempfile.TemporaryDirectory() as folder:
        run = copy_run(tiny_runs / data.draw(st.sampled_from(list(TASKS))), Path(folder))
        damage(data, run / data.draw(st.sampled_from(FILES)))
        with only_mistakes():
            VERBS[verb](run)


@pytest.mark.parametrize("task", ("translate", "classify", "vectors"))
@fuzzed(12)
@given(data=st.data())
def test_a_damaged_run_is_resumed_or_refused(task, tiny_runs, data):
    with tempfile.TemporaryDirectory() as folder:
        victim = Path(folder) / "victim"
        (victim / "training").mkdir(parents=True)
        run = copy_run(tiny_runs / task, Path(folder))
        name = data.draw(st.sampled_from((*FILES, "training/state.json", "training/optimizer.safetensors")))
        file = Run(run).latest / name if name.startswith("training") else run / name
        damage(data, file)
        if name.startswith("training"):
            refresh_manifest(file.parent.parent)
        with only_mistakes():
            _resume(run)
        assert (victim / "training").is_dir()


@fuzzed(12)
@given(data=st.data())
def test_damaged_passports_are_used_or_refused(quick_run, data):
    from regard.runs.scores.passport import passports_of, read_passport

    passports = sorted((quick_run.path / "scores").glob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(copy_run(quick_run.path, Path(folder)))
        path = run.path / "scores" / passports[0].name
        damage(data, path)
        with only_mistakes():
            read_passport(path)
        with only_mistakes():
            passports_of(run)
            run.card()

"""Several processes started by the command line: signals, a process that is killed, and what is refused."""

import json
import os
import signal
import time

import pytest
from safetensors.torch import load_file

from launched import TINY, begun, steps, wait_for, workers
from regard.training.parallel.launch import launch


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_the_weights_are_those_of_an_undisturbed_run(tmp_path):
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    words = ["translate-miniature", *TINY, "--processes", 2, "train.steps=40"]
    process = begun(*words, "--out", disturbed, "--max-restarts", 1)
    wait_for(disturbed, 7, process)
    os.kill(workers(disturbed)[-1], signal.SIGKILL)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert "started all processes again" in errors
    process = begun(*words, "--out", calm)
    process.communicate(timeout=240)
    assert process.returncode == 0
    one, other = (load_file(run / "checkpoints" / "00000040" / "model.safetensors") for run in (calm, disturbed))
    assert all(one[name].equal(other[name]) for name in one)
    assert steps(calm) == steps(disturbed) == 40
    assert json.loads((disturbed / "run.json").read_text())["machine"]["processes"] == 2


@pytest.mark.slow
def test_an_interrupt_saves_once_and_another_one_ends_at_once(tmp_path):
    run = tmp_path / "run"
    process = begun("translate-miniature", *TINY, "--processes", 2, "train.steps=100000", "--out", run)
    wait_for(run, 2, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and errors.count("everything is saved") == 1 and not output
    assert json.loads((run / "run.json").read_text())["state"] == "interrupted" and not workers(run)
    before = steps(run)
    process = begun("--resume", run)
    wait_for(run, before + 3, process)
    pids = workers(run)
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)  # none can answer, so nothing can be saved
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - started < 20 and process.returncode == 130 and not workers(run)


def test_processes_that_nobody_has_started_are_refused(monkeypatch, tmp_path):
    from regard.errors import ConfigError
    from regard.runs.train import train

    monkeypatch.delenv("WORLD_SIZE", raising=False)
    for changes, name in (
        ({"machine.processes": 2}, "machine.processes"),
        ({"machine.max_restarts": 1}, "max_restarts"),
    ):
        with pytest.raises(ConfigError, match=name):
            train("translate-miniature", changes, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_exit_code_is_that_of_the_process_that_failed(monkeypatch):
    monkeypatch.setattr("logging.disable", lambda level: None)
    assert launch(["--version"], 2) == 0
    assert launch(["train", "no-such-recipe"], 2) == 2

"""Several processes started by the command line: signals, a process that is killed, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from regard.training.parallel.launch import launch

TINY = [
    "data.train.max_rows=60",
    "data.valid.max_rows=5",
    "text.size=600",
    "model.width=16",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "train.warmup=1",
    "train.log_every=1",
    "train.validate_every=1000",
    "train.save_every=3",
    "preflight=false",
    "validation.bleu_sentences=0",
    *(f"data.test.{name}.max_rows=1" for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")),
]


def begun(*words: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "regard", "train", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def steps(run: Path) -> int:
    """Return the last step in the metrics of a run, which others are writing."""
    path = run / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return json.loads(lines[-1])["step"] if lines else 0


def wait_for(run: Path, step: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + 120
    while steps(run) < step:
        assert time.monotonic() < until and process.poll() is None, process.communicate()
        time.sleep(0.02)


def workers(run: Path) -> list[int]:
    """Return the processes that train a run, which were started with its folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(run) in words and b"TORCHELASTIC_RUN_ID=" in environment:
            found.append(int(folder.name))
    return sorted(found)


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

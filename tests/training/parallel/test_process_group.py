"""Two processes train to the same weights as one, also when one of them runs out of memory."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from regard.training.parallel.process_group import ProcessGroup, init_process_group, is_main_process

SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}, str(Path({tests!r}) / "training")]
import torch
from scene import CPU, Scene
from test_oom import Narrow
from regard.training.parallel.process_group import init_process_group
torch.set_num_threads(1)
with init_process_group(CPU.device) as team:
    for room, name in ((10**9, "plain"), (70, "narrow")):
        scene = Scene(limit=150, dropout=0.0, dtype=torch.float64, steps=20)
        scene.trainer.team = team
        gradients = scene.trainer.gradients
        gradients.objective = Narrow(gradients.objective, 10**9 if team.is_main else room)
        scene.trainer.run()
        assert (scene.trainer.state.micro_batch_limit is None) == (name == "plain")
        if team.is_main:
            import safetensors.torch
            safetensors.torch.save_file(scene.weights(), {out!r} + "/" + name)
"""


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_two_processes_equal_one(tmp_path):
    from safetensors.torch import load_file

    from scene import Scene

    out = str(tmp_path)
    code = SCRIPT.format(tests=str(Path(__file__).parents[2]), out=out)
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": "2"}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=os.environ | place | {"RANK": str(rank)})
        for rank in range(2)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    alone = Scene(limit=150, dropout=0.0, dtype=torch.float64, steps=20)
    alone.trainer.run()
    for kind in ("plain", "narrow"):
        together = load_file(tmp_path / kind)
        for name, value in alone.weights().items():
            assert_close(together[name], value, atol=1e-10, rtol=0)


@pytest.mark.slow
def test_the_command_line_under_torchrun_speaks_once(tmp_path):
    """Two processes train as users start them; results are printed by one of them."""
    words = ["data.train.max_rows=60", "data.valid.max_rows=5", "text.size=600", "model.width=16", "train.steps=2"]
    tests = [f"data.test.{name}.max_rows=2" for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")]
    out = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "regard", "train"]
    done = subprocess.run(
        [*command, "translate-miniature", "--out", str(out), *words, *tests, "train.warmup=1", "--threads", "1"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Use it: regard translate") == 1
    assert json.loads((out / "run.json").read_text())["machine"]["processes"] == 2


def test_a_single_process_sums_and_agrees_with_itself(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with init_process_group(torch.device("cpu")) as team:
        assert team == ProcessGroup(0, 1) and team.is_main
        counts, values = {"ce": 3}, torch.tensor([1.0, 2.0])
        assert team.sum_counts(counts, values.device) == counts and team.sum_values(values) is values
        assert team.agree(True, values.device) and not team.agree(False, values.device)
        model = torch.nn.Linear(2, 2)
        team.sum_gradients(model)
        assert model.weight.grad is None
        team.wait()


@pytest.mark.parametrize("rank, expected", [(None, True), ("0", True), ("1", False)])
def test_rank_zero_is_the_main_process(rank, expected, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
    assert is_main_process() == expected and ProcessGroup(int(rank or 0), 2).is_main == expected

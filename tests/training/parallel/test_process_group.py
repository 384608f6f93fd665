"""Two processes train to the same weights as one, also when one of them runs out of memory."""

import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from parallel_scenes import together
from regard.processes import is_main_process
from regard.training.parallel.process_group import ProcessGroup, init_process_group
from scene import Scene


class Narrow:
    """An objective on a device that holds so many padded tokens at once."""

    def __init__(self, inner, room):
        self.inner, self.room, self.parts, self.counts = inner, room, inner.parts, inner.counts

    def __call__(self, model, batch):
        loss = self.inner(model, batch)
        if batch.source.numel() + batch.target.numel() > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return loss


def narrow(team, out):
    """Train where the second process has little memory."""
    scene = Scene(limit=150, dropout=0.0, dtype=torch.float64, steps=20, team=team)
    gradients = scene.trainer.gradients
    gradients.objective = Narrow(gradients.objective, 10**9 if team.is_main else 70)
    scene.trainer.run()
    assert scene.trainer.state.micro_batch_limit is not None
    if team.is_main:
        save_file(scene.weights(), out / "narrow")


@pytest.mark.slow
def test_memory_that_runs_out_in_one_process_changes_nothing_but_the_micro_batches(tmp_path):
    together(2, "test_process_group:narrow", tmp_path)
    alone = Scene(limit=150, dropout=0.0, dtype=torch.float64, steps=20)
    alone.trainer.run()
    several = load_file(tmp_path / "narrow")
    for name, value in alone.weights().items():
        assert_close(several[name], value, atol=1e-10, rtol=0)


def texts(team, out):
    """Exchange texts of different lengths."""
    assert team.gather("é" * team.rank) == ["é" * rank for rank in range(team.size)]
    assert team.share(f"from {team.rank}") == "from 0" and team.share("") == ""


def test_texts_go_from_one_to_all_and_from_all_to_all(tmp_path):
    together(3, "test_process_group:texts", tmp_path)


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
        assert team.share("text") == "text" and team.gather("text") == ["text"]
        team.wait()


@pytest.mark.parametrize("rank, expected", [(None, True), ("0", True), ("1", False)])
def test_rank_zero_is_the_main_process(rank, expected, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
    assert is_main_process() == expected and ProcessGroup(int(rank or 0), 2).is_main == expected

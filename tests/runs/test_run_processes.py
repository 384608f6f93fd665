"""Agreement of processes before they train."""

from types import SimpleNamespace

import pytest
import torch

from parallel_scenes import together
from regard.errors import CheckpointError, ConfigError, RunError
from regard.models.gpt.model import GptSettings
from regard.runs.processes import (
    check_alike,
    check_launch,
    check_processes,
    describe_processes,
    newest_checkpoint,
    start_processes,
)
from regard.runs.run import Run
from regard.training.settings import MachineSettings, TrainSettings
from regard.training.word2vec.trainer import VectorTrainer


def unlike(team, out):
    """Disagree on settings, on the data, on the folder and on its checkpoint."""
    settings = lambda **values: SimpleNamespace(model_dump=lambda mode: values, train=None)
    run = Run(out)
    (out / "run.json").write_text("{}")
    team.wait()
    check_launch(run, settings(seed=1, text="a"), team)
    last = team.rank == team.size - 1
    with pytest.raises(RunError, match=f"rank {team.size - 1} on .* has another setting seed than rank 0"):
        check_launch(run, settings(seed=2 if last else 1, text="a"), team)
    with pytest.raises(RunError, match=f"rank {team.size - 1} on .* has another folder of the run than rank 0"):
        check_launch(Run(out / "elsewhere") if last else run, settings(seed=1), team)
    if last:
        patch = pytest.MonkeyPatch()
        patch.setattr("regard.runs.processes.__version__", "0.0.1")
    with pytest.raises(RunError, match=f"rank {team.size - 1} on .* has another version of regard than rank 0"):
        check_launch(run, settings(seed=1), team)
    if last:
        patch.undo()
    check_alike("hash", team)
    with pytest.raises(RunError, match="has another data than rank 0"):
        check_alike("other" if last else "hash", team)
    checkpoints = SimpleNamespace(
        resumable=lambda: (out / "00000003", []), folder_of=lambda name: out / ("absent" if last else "") / name
    )
    (out / "00000003").mkdir(exist_ok=True)
    with pytest.raises(RunError, match="has another checkpoint 00000003 than rank 0"):
        newest_checkpoint(SimpleNamespace(checkpoints=checkpoints), team)
    refused(run, team)


def refused(run, team):
    """Miss a part of the only checkpoint; and be given a number of processes that no strategy can use."""

    def damaged():
        assert team.is_main  # the others hear of it
        raise CheckpointError("00000003/model/shard-00002.safetensors: missing, so the checkpoint is incomplete.")

    checkpoints = SimpleNamespace(resumable=damaged, folder_of=lambda name: run.path / name)
    with pytest.raises(CheckpointError, match=r"shard-00002.safetensors: missing, so the checkpoint is incomplete\."):
        newest_checkpoint(SimpleNamespace(checkpoints=checkpoints), team)
    with pytest.raises(ConfigError, match="Word vectors train in one process; leave out --processes and torchrun"):
        VectorTrainer(None, None, None, None, None, None, seed=1, algorithm="cbow", team=team)


def test_processes_that_disagree_are_refused_in_all_of_them(tmp_path):
    together(3, "test_run_processes:unlike", tmp_path)


def test_processes_that_cannot_split_the_model_are_refused(tmp_path):
    settings = SimpleNamespace(train=TrainSettings(tensor_parallel=2), model=GptSettings(width=9, heads=3))
    with pytest.raises(ConfigError, match=r"train.tensor_parallel: 2 does not divide model.heads \(3\)"):
        check_launch(Run(tmp_path), settings, SimpleNamespace(size=1))
    settings.model = GptSettings(width=8, heads=2)
    with pytest.raises(ConfigError, match="train.tensor_parallel: 2 does not divide the 1 processes; start"):
        check_launch(Run(tmp_path), settings, SimpleNamespace(size=1))


def test_one_line_states_what_each_process_has():
    lines = []
    progress = SimpleNamespace(info=lines.append)
    trainer = SimpleNamespace(
        model=torch.nn.Linear(1024, 64, bias=False),
        settings=TrainSettings(tokens_per_update=4096),
        gradients=SimpleNamespace(description="replicate."),
        team=SimpleNamespace(data_size=4),
    )
    describe_processes(trainer, SimpleNamespace(size=1), progress)
    describe_processes(trainer, SimpleNamespace(size=4, gather=lambda host: [host, host, "b", "b"]), progress)
    assert lines == [
        "4 processes on 2 hosts, each with about 1,024 target tokens of an update and 1.0 MiB for weights, gradients "
        "and Adam; replicate."
    ]


def test_several_processes_are_started_by_the_command_line_or_torchrun_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    start_processes(MachineSettings())
    check_processes(MachineSettings())
    with pytest.raises(ConfigError, match="machine.processes: 2 processes are started by the command line"):
        check_processes(MachineSettings(processes=2))
    with pytest.raises(ConfigError, match="machine.max_restarts: this is for several processes"):
        check_processes(MachineSettings(max_restarts=2))
    monkeypatch.setenv("WORLD_SIZE", "4")
    check_processes(MachineSettings(processes=2))

"""Agreement of the processes of a run before they train: folder, settings, version, data, checkpoint."""

import json
import os
import socket
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import torch

from regard.config.parsing import parse_json
from regard.errors import CheckpointError, ConfigError, RunError
from regard.models.base.settings import ModelSettings
from regard.nn.layers.dtensor import local
from regard.processes import BEGAN, command_began, is_main_process, is_started, processes_on_host
from regard.progress import Progress
from regard.runs.run import Run
from regard.tasks.record import RECORD
from regard.tasks.settings import RunSettings
from regard.training.device.gradients import BYTES
from regard.training.loop import Trainer
from regard.training.parallel.layout import choose_layout
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.tensor import check_tensor_parallel
from regard.training.settings import MachineSettings, TrainSettings
from regard.version import __version__


def start_processes(machine: MachineSettings) -> None:
    """Run this command in several processes if the settings ask for them, and exit with their code."""
    if machine.processes == 1 or is_started():
        return
    from regard.training.parallel.launch import launch

    os.environ[BEGAN] = repr(command_began())
    sys.exit(launch(sys.argv[1:], machine.processes, machine.max_restarts))


def divide_command(processes: int | None) -> bool:
    """Run this command in several processes if that many are asked for; return True in the one that prints."""
    start_processes(MachineSettings(processes=processes or 1))
    return is_main_process()


def check_processes(machine: MachineSettings) -> None:
    """Refuse settings that ask for processes which nobody has started, or for restarts without several."""
    if is_started():
        return
    if machine.processes > 1:
        raise ConfigError(
            f"machine.processes: {machine.processes} processes are started by the command line (regard train RECIPE "
            f"--processes {machine.processes}) or by torchrun, and this is a single one; leave it out here."
        )
    if machine.max_restarts:
        raise ConfigError(
            "machine.max_restarts: this is for several processes; give --processes too, or leave it out."
        )


def check_launch(run: Run, settings: RunSettings[ModelSettings], team: ProcessGroup) -> None:
    """Refuse processes with other settings or versions than the main one, or that do not see its folder.

    A number of processes that cannot split the layers of the model is refused as well.
    """
    if isinstance(settings.train, TrainSettings):
        check_tensor_parallel(settings.model, settings.train.tensor_parallel)
        choose_layout(settings.train.distributed, settings.train.tensor_parallel, team.size, processes_on_host())
    if team.size == 1:
        return
    mark = team.share(_mark(run.path) if team.is_main else "")
    facts: dict[str, object] = {f"setting {name}": value for name, value in settings.model_dump(mode="json").items()}
    facts |= {"version of regard": __version__, "version of torch": torch.__version__}
    facts |= {"folder of the run": mark == _mark(run.path)}
    _compare(facts, team)


def _mark(folder: Path) -> str:
    """Return the hash of the record in a folder, which the main process has just written or will resume."""
    record = folder / RECORD
    return sha256(record.read_bytes()).hexdigest() if record.exists() else "absent"


def check_alike(data_hash: str, team: ProcessGroup) -> None:
    """Refuse processes that have read other data than the main one."""
    _compare({"data": data_hash}, team)


def _compare(facts: dict[str, object], team: ProcessGroup) -> None:
    """Raise, in all processes alike, if one of them has another value of a fact than the main one."""
    texts = team.gather(json.dumps([socket.gethostname(), facts]))
    (_, wanted), *others = (parse_json(text) for text in texts)
    for rank, (host, values) in enumerate(others, 1):
        for name, value in values.items():
            if value != wanted[name]:
                raise RunError(
                    f"rank {rank} on {host} has another {name} than rank 0; start all processes with the same "
                    f"command, version and files, in a folder that all of them see."
                )


def newest_checkpoint(run: Run, team: ProcessGroup) -> tuple[Path, Sequence[CheckpointError]]:
    """Return the checkpoint to resume from, as the main process sees it, and the errors of newer ones.

    Where there is none that is intact, all raise the error of the main process.
    """
    folder, damages, refusal = Path(), list[CheckpointError](), ""
    if team.is_main:
        try:
            folder, damages = run.checkpoints.resumable()
        except CheckpointError as error:
            refusal = str(error)
    if refusal := team.share(refusal):
        raise CheckpointError(refusal)
    name = team.share(folder.name)
    folder = run.checkpoints.folder_of(name)
    _compare({f"checkpoint {name}": folder.is_dir()}, team)
    return folder, damages


def describe_processes(trainer: Trainer, team: ProcessGroup, progress: Progress) -> None:
    """Print how the processes share the work."""
    if team.size == 1:
        return
    hosts = set(team.gather(socket.gethostname()))
    places = "1 host" if len(hosts) == 1 else f"{len(hosts)} hosts"
    size = sum(BYTES * local(each).numel() for each in trainer.model.parameters())
    progress.info(
        f"{team.size} processes on {places}, each with about "
        f"{trainer.settings.tokens_per_update / trainer.team.data_size:,.0f} target tokens of an update and "
        f"{size / 2**20:,.1f} MiB for weights, gradients and Adam; "
        f"{trainer.gradients.description}"
    )

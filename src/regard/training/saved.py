"""Validation of a saved training state before training resumes from it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field
from torch import Tensor

from regard.checkpoint.background import host_copies
from regard.checkpoint.bundle import TrainingState
from regard.config.records import Count, Record, check_record
from regard.errors import CheckpointError
from regard.nn.layers.low_rank import PART
from regard.training.ema import Ema
from regard.training.settings import TrainSettings
from regard.training.snapshot import AVERAGE, OPTIMIZER, WEIGHTS, Snapshot

STATE, TENSORS = "state.json", "optimizer.safetensors"
ENTRIES = {
    "adam": {"step", "exp_avg", "exp_avg_sq"},
    "adamw": {"step", "exp_avg", "exp_avg_sq"},
    "sgd": {"momentum_buffer"},
}
"""The state tensors of each optimizer for a parameter."""

Number = Annotated[float, Field(allow_inf_nan=False)]


class PositionRecord(Record):
    """The next update to consume."""

    epoch: Count = 0
    index: Count = 0


class LoopRecord(Record):
    """Training progress (see `LoopState`); a missing field has its initial value."""

    step: Count
    position: PositionRecord
    tokens_seen: Count = 0
    seconds: Number = 0.0
    waited: Number = 0.0
    best: Number | None = None
    best_step: Count = 0
    best_loss: Number | None = None
    ties: Count = 0
    stale: Count = 0
    decay_from: Count | None = None
    decay_steps: Count = 0
    clock: Number = 0.0
    first_loss: Number | None = None
    stuck: Count = 0
    restarts: Count = 0
    recent: list[Number] = Field(default_factory=list)
    alarms: Count = 0
    tries: Count = 0
    rate_factor: Number = 1.0
    blamed: PositionRecord | None = None
    skipped: list[PositionRecord] = Field(default_factory=list)
    micro_batch_limit: Annotated[int, Field(ge=1, lt=2**63)] | None = None


class WindowRecord(Record):
    """The metrics since the last log line (see `MetricsWindow`)."""

    sums: dict[str, float]
    counts: dict[str, Count]
    tokens: Count
    seconds: Number
    waited: Number = 0.0


class StateRecord(Record):
    """The state.json of a run."""

    loop: LoopRecord


class WindowedRecord(StateRecord):
    """The state.json of a run in the training loop, with its current metrics window."""

    window: WindowRecord


def saved_snapshot(training: TrainingState, average: Ema, settings: TrainSettings) -> Snapshot:
    """Return the saved snapshot, after checking that it fits the run."""
    training = checked_state(training)
    has_weights = bool(average.values) or any(PART in name for name in average.parameters)
    check_tensors(training, average.parameters, settings, has_average=has_weights)
    return Snapshot.of(training, host_copies(average.parameters))


def checked_state(training: TrainingState, schema: type[StateRecord] = WindowedRecord) -> TrainingState:
    """Return the state with its facts checked and converted by a schema."""
    path, what = training.origin / STATE, "the state of training"
    record = check_record(training.facts, path, schema, CheckpointError, what, "copy the checkpoint again")
    return replace(training, facts=record.model_dump())


def check_tensors(
    training: TrainingState, parameters: Mapping[str, Tensor], settings: TrainSettings, has_average: bool = False
) -> None:
    """Refuse tensors that belong to no parameter or have another shape than theirs, and missing tensors."""
    expected = ENTRIES.get(settings.optimizer, set())
    entries_of: dict[str, set[str]] = {}
    for key, tensor in training.tensors.items():
        kind, _, rest = key.partition("/")
        name, _, entry = rest.rpartition("/") if kind == OPTIMIZER[:-1] else (rest, "", "")
        is_known = (
            f"{kind}/" in (WEIGHTS, AVERAGE, OPTIMIZER) and name in parameters and (not entry or entry in expected)
        )
        if not is_known:
            raise _misfit(training, f"{key} belongs to no trained parameter")
        shape = () if entry == "step" else parameters[name].shape
        if tuple(tensor.shape) != tuple(shape) or not tensor.is_floating_point():
            raise _misfit(training, f"{key} has shape {tuple(tensor.shape)}, not {tuple(shape)}")
        if entry:
            entries_of.setdefault(name, set()).add(entry)
    for name, entries in entries_of.items():
        if expected - entries:
            raise _misfit(training, f"{name}/{min(expected - entries)} is missing")
    averaged = {key.removeprefix(WEIGHTS) for key in training.tensors if key.startswith(WEIGHTS)}
    if (averaged or has_average) and (missing := set(parameters) - averaged):
        raise _misfit(training, f"{WEIGHTS}{min(missing)} is missing")


def _misfit(training: TrainingState, reason: str) -> CheckpointError:
    return CheckpointError(f"{training.origin / TENSORS}: it does not fit the run ({reason}); copy it again.")

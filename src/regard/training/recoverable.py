"""The state of a training that can be saved, rolled back to, and begun anew."""

import time
from abc import ABC, abstractmethod
from dataclasses import replace

from torch import nn

from regard.checkpoint.background import host_copies
from regard.checkpoint.bundle import TrainingState
from regard.nn.layers.low_rank import is_adapted
from regard.objectives.loss import Objective
from regard.progress import Bar
from regard.training.device.gradients import build_gradients
from regard.training.device.machine import Machine
from regard.training.divergence import Divergence, recover, restarted
from regard.training.ema import Ema, fill
from regard.training.ending import Ending, RunClock
from regard.training.hooks import Hooks
from regard.training.metrics_window import MetricsWindow
from regard.training.optimizers import build_optimizer, optimizer_tensors, restore_optimizer
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import load_whole
from regard.training.saved import saved_snapshot
from regard.training.settings import TrainSettings
from regard.training.snapshot import Snapshot, part_of_state
from regard.training.standstill import way_out
from regard.training.state import LoopState
from regard.training.validation_line import ValidationLine


class Recoverable(ABC):
    """Weights, optimizer, average and progress of a training."""

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: TrainSettings,
        machine: Machine,
        hooks: Hooks,
        team: ProcessGroup | None,
        clock: RunClock | None,
    ) -> None:
        self.model = model.to(machine.device)
        self.settings, self.machine, self.hooks = settings, machine, hooks
        self.team = replace(team or ProcessGroup(), tensor_parallel=settings.tensor_parallel)
        choices = settings.distributed, settings.activation_checkpointing
        self.gradients = build_gradients(self.model, objective, machine, self.team, *choices)
        self.optimizer = build_optimizer(self.model, settings)
        self.average, self.state = Ema(self.model, settings.ema_decay), LoopState()
        self.ending = Ending(settings, clock, hooks.scorings)
        self._window, self._clock = MetricsWindow(machine.device), time.perf_counter()
        self._last_good: Snapshot | None = None
        self._line = ValidationLine()

    @abstractmethod
    def _rewind(self) -> None:
        """Iterate over updates from the current position."""

    def restore(self, training: TrainingState) -> None:
        """Resume from a saved state; the model holds the weights that were saved with it."""
        parameters = dict(self.model.named_parameters())
        parts = {key: part_of_state(key, tensor, parameters) for key, tensor in training.tensors.items()}
        self._load(saved_snapshot(replace(training, tensors=parts), self.average, self.settings))
        self.ending.earlier = self.state.clock

    def _save(self, value: float | None = None) -> None:
        """Save a checkpoint, and make it the state to roll back to."""
        self.hooks.writer.wait()  # memory holds the copies of one checkpoint besides those to roll back to
        self.state.clock = round(self.ending.used, 3)
        self._last_good = self._snapshot()
        with self.average.applied():
            self.hooks.save(self.state, self._last_good.training_state(dict(self.model.named_parameters())), value)
        self._clock = time.perf_counter()  # validation and saving do not count as training time

    def _roll_back(self, divergence: Divergence, bar: Bar) -> None:
        """Return to the last good state with a lower rate or a skipped update, and save that, in case of a kill."""
        assert self._last_good is not None, "run takes the first snapshot"
        if divergence.restarts:
            self._restart(divergence, bar)
            return
        failed = self.state
        good = LoopState.from_plain(self._last_good.loop)
        message = recover(divergence, failed, good, self.settings)
        self._load(self._last_good)
        self.state = good
        self._rewind()
        bar.advance(good.step - failed.step)
        self.hooks.forget(good.step)
        self._save()
        self.hooks.record({"step": good.step, "returned_from": failed.step, "rate_factor": good.rate_factor})
        self.hooks.progress.warn(message)

    def _restart(self, divergence: Divergence, bar: Bar) -> None:
        """Begin anew with untrained weights and half the rate, and save that, in case of a kill."""
        assert self.hooks.untrained is not None, "only then a model is watched for this"
        failed = self.state
        self.state, message = restarted(failed, self.settings, divergence.message, way_out(self.settings))
        self.gradients.clear()
        load_whole(self.model, self.hooks.untrained().state_dict())
        self.optimizer.state.clear()
        self.average.reset()
        self._window = MetricsWindow(self.machine.device)
        self._rewind()
        bar.advance(-failed.step)
        self._line.begin(0)
        self.hooks.forget(0)
        self._save()
        self.hooks.drop_older()
        self.hooks.record({"step": 0, "returned_from": failed.step, "rate_factor": self.state.rate_factor})
        self.hooks.progress.warn(message)

    def _snapshot(self) -> Snapshot:
        weights, average = host_copies(self.average.parameters), host_copies(self.average.values)
        optimizer = host_copies(optimizer_tensors(self.model, self.optimizer))
        window = self._window.plain(self.team)
        return Snapshot(weights, average, optimizer, self.state.plain(), window, is_adapted(self.model))

    def _load(self, snapshot: Snapshot) -> None:
        fill(self.average.parameters, snapshot.weights)
        fill(self.average.values, snapshot.average)
        restore_optimizer(self.model, self.optimizer, snapshot.optimizer)
        self.state = LoopState.from_plain(snapshot.loop)
        self._window = MetricsWindow.from_plain(snapshot.window, self.machine.device, self.team)

"""Updates on a copy of a model: the model itself and the random state of the process stay as they are."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from regard.models.base.protocols import ModelSettings
from regard.objectives.loss import scaled_total
from regard.tasks.data import Prepared
from regard.tasks.settings import RunSettings
from regard.training.device.machine import Machine
from regard.training.optimizers import build_optimizer
from regard.training.settings import TrainSettings


@dataclass(frozen=True)
class TrialSetup:
    """All it takes to try a run out."""

    settings: RunSettings[ModelSettings]
    prepared: Prepared[Any]
    machine: Machine

    @property
    def train(self) -> TrainSettings:
        """The settings of the training loop."""
        assert isinstance(self.settings.train, TrainSettings), "a task without trials has none"
        return self.settings.train


class Trial:
    """A copy of a run's model with an optimizer of its own."""

    def __init__(self, bench: TrialSetup) -> None:
        self.machine, self.objective = bench.machine, bench.prepared.objective
        self.settings = bench.train
        self.model = copy.deepcopy(bench.prepared.bundle.model).to(bench.machine.device).train()
        self.optimizer = build_optimizer(self.model, self.settings)

    def update(self, batches: Sequence[Any], rate: float) -> float:
        """Learn from micro-batches at a given rate and return the mean loss before that."""
        counts = [self.objective.counts(batch) for batch in batches]
        totals = {name: sum(count[name] for count in counts) for name in self.objective.parts}
        loss = torch.zeros((), device=self.machine.device)
        for batch in batches:
            with self.machine.autocast():
                parts = self.objective(self.model, batch.to(self.machine.device))
            part = scaled_total(parts, totals)
            part.backward()
            loss += part.detach()
        if self.settings.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss)


@contextmanager
def trying(bench: TrialSetup) -> Iterator[Trial]:
    """Yield a trial; what it drew from the random state is undone."""
    devices = [bench.machine.device] if bench.machine.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(bench.settings.seed)
        yield Trial(bench)

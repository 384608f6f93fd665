"""Trial updates on a copy of a model: the model and the random state of the process do not change."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from regard.models.base.settings import ModelSettings
from regard.objectives.loss import scaled_total
from regard.tasks.data import Prepared
from regard.tasks.settings import RunSettings
from regard.training.device.machine import Machine
from regard.training.optimizers import build_optimizer
from regard.training.settings import TrainSettings


@dataclass(frozen=True)
class TrialSetup:
    """A run prepared for trials."""

    settings: RunSettings[ModelSettings]
    prepared: Prepared[Any]
    machine: Machine

    @property
    def train(self) -> TrainSettings:
        """The settings of the training loop."""
        assert isinstance(self.settings.train, TrainSettings), "only tasks with trials get here"
        return self.settings.train


class Trial:
    """A copy of a run's model with an optimizer of its own."""

    def __init__(self, setup: TrialSetup) -> None:
        self.machine, self.objective = setup.machine, setup.prepared.objective
        self.settings = setup.train
        self.model = copy.deepcopy(setup.prepared.bundle.model).to(setup.machine.device).train()
        self.optimizer = build_optimizer(self.model, self.settings)

    def update(self, batches: Sequence[Any], rate: float) -> float:
        """Update on micro-batches with a learning rate, and return the mean loss before the update."""
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
def isolated_trial(setup: TrialSetup) -> Iterator[Trial]:
    """Yield a trial; the random state is restored afterwards."""
    devices = [setup.machine.device] if setup.machine.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(setup.settings.seed)
        yield Trial(setup)

"""The one training loop: updates in, a better model out; everything that varies is handed in."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from regard.checkpoint import TrainingState
from regard.data.feed import Feed, Update
from regard.data.sampler import Position
from regard.errors import RunError
from regard.objectives import Objective, scaled_total
from regard.progress import SILENT, Bar, Progress
from regard.training.distributed import Team
from regard.training.interrupt import catching_interrupts
from regard.training.machine import Machine
from regard.training.optimizers import build_optimizer, optimizer_tensors, restore_optimizer
from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings

Reason = Literal["finished", "no improvement", "interrupted"]


@dataclass
class LoopState:
    """Where training stands; with the weights and the optimizer, all it takes to go on as if never stopped."""

    step: int = 0
    position: Position = field(default_factory=Position)
    tokens_seen: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_step: int = 0
    stale: int = 0
    """Validations since the best one."""

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> "LoopState":
        """Read what `asdict` wrote."""
        return cls(**{**facts, "position": Position(**facts["position"])})


@dataclass(frozen=True)
class Hooks:
    """What the loop calls: how to validate, where to save, where to report."""

    validate: Callable[[Any], dict[str, float]]
    save: Callable[[LoopState, TrainingState, bool], None]
    record: Callable[[dict[str, float]], None] = lambda record: None
    progress: Progress = SILENT

    def recording(self, record: Callable[[dict[str, float]], None]) -> "Hooks":
        """Return the same hooks with another place for records."""
        return replace(self, record=record)


class Trainer:
    """Trains one model on one feed with one objective."""

    def __init__(
        self,
        model: nn.Module,
        feed: Feed,
        objective: Objective,
        settings: TrainSettings,
        machine: Machine,
        hooks: Hooks,
        *,
        seed: int,
        width: int,
        team: Team | None = None,
    ) -> None:
        self.model = model.to(machine.device)
        self.feed, self.objective, self.settings, self.hooks = feed, objective, settings, hooks
        self.machine, self.seed, self.width, self.team = machine, seed, width, team or Team()
        self.optimizer = build_optimizer(self.model, settings)
        self.state = LoopState()
        self._window = Window(machine.device)
        self._clock = time.perf_counter()

    def restore(self, training: TrainingState) -> None:
        """Go on from a saved state; the weights are the caller's to restore."""
        self.state = LoopState.from_facts(training.facts)
        restore_optimizer(self.model, self.optimizer, training.tensors)

    def run(self) -> Reason:
        """Train until the last step, the end of patience or an interrupt, and say which it was."""
        settings, state = self.settings, self.state
        updates = self.feed.updates(state.position, self.team.rank, self.team.size)
        self._clock = time.perf_counter()
        with (
            catching_interrupts() as interrupted,
            self.hooks.progress.bar("train", settings.steps, state.step) as bar,
        ):
            while state.step < settings.steps:
                self._update(next(updates))
                if state.step % settings.log_every == 0 or self.machine.device.type == "cpu":
                    self._report(bar)
                else:
                    bar.advance(1)
                stops = self.team.agree(interrupted(), self.machine.device)
                if state.step % settings.validate_every == 0 or state.step == settings.steps:
                    self._validate()
                    if settings.patience and state.stale >= settings.patience:
                        return "no improvement"
                elif stops:
                    self._save(is_best=False)
                if stops:
                    return "interrupted"
        return "finished"

    def _update(self, update: Update) -> None:
        """Learn from one update: the same step however it is cut into micro-batches and shared among processes."""
        state, device = self.state, self.machine.device
        state.step += 1
        self.model.train()
        batches = update.micro_batches
        nothing = dict.fromkeys(self.objective.parts, 0)  # a process may have no share in a small update
        counts = _total([nothing, *(self.objective.counts(batch) for batch in batches)])
        counts = self.team.sum_counts(counts, device)
        for number, batch in enumerate(batches):
            torch.manual_seed(_derived_seed(self.seed, state.step, number, self.team.rank))
            with self.machine.autocast():
                loss = self.objective(self.model, batch.to(device))
            scaled_total(loss, counts).backward()
            self._window.add({name: part.sum.detach() for name, part in loss.items()})
        self.team.sum_gradients(self.model)
        if self.settings.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.settings, state.step, self.width)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        state.position = update.following
        tokens = max(counts.values())
        state.tokens_seen += tokens
        self._window.close(counts, tokens, self._elapsed())

    def _elapsed(self) -> float:
        """Return and add up the seconds since the last call: the wall clock, so that a GPU's queue is in it."""
        now = time.perf_counter()
        elapsed, self._clock = now - self._clock, now
        self.state.seconds += elapsed
        return elapsed

    def _report(self, bar: Bar) -> None:
        state = self.state
        means = self._window.means(self.team)
        self._check(means)
        first = next(iter(means.values()))
        bar.advance(1, loss=first, tokens_per_second=self._window.tokens_per_second)
        if state.step % self.settings.log_every == 0:
            record = {"step": state.step, "epoch": state.position.epoch, "seconds": round(state.seconds, 3)}
            rate = learning_rate(self.settings, state.step, self.width)
            speed = self._window.tokens_per_second
            self.hooks.record(record | means | {"learning_rate": rate, "tokens_per_second": speed})
            self._window = Window(self.machine.device)

    def _check(self, figures: dict[str, float]) -> None:
        if not all(math.isfinite(value) for value in figures.values()):
            raise RunError(
                f"step {self.state.step}: the loss is no longer a number; lower train.learning_rate "
                f"(now {self.settings.peak_rate}) or raise train.warmup (now {self.settings.warmup})."
            )

    def _validate(self) -> None:
        """Measure, decide whether this is the best model so far, and save it."""
        self.model.eval()
        measured = self.hooks.validate(self.model)
        self._check(measured)
        sign = -1.0 if self.settings.select_by == "loss" else 1.0
        value = sign * measured[self.settings.select_by]
        is_best = self.state.best is None or value > self.state.best
        if is_best:
            self.state.best, self.state.best_step, self.state.stale = value, self.state.step, 0
        else:
            self.state.stale += 1
        named = {f"valid_{name}": figure for name, figure in measured.items()}
        self.hooks.record({"step": self.state.step, "seconds": round(self.state.seconds, 3)} | named)
        self._save(is_best)
        self._clock = time.perf_counter()  # time spent measuring is no training

    def _save(self, is_best: bool) -> None:
        training = TrainingState(optimizer_tensors(self.model, self.optimizer), asdict(self.state))
        self.hooks.save(self.state, training, is_best)


class Window:
    """Sums since the last report, left on the device until somebody asks."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.sums: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {}
        self.tokens = 0
        self.seconds = 0.0

    def add(self, sums: dict[str, Tensor]) -> None:
        """Add the sums of one micro-batch."""
        for name, value in sums.items():
            self.sums[name] = self.sums.get(name, 0) + value

    def close(self, counts: dict[str, int], tokens: int, seconds: float) -> None:
        """Add the counts of one update."""
        self.counts = _total([self.counts, counts])
        self.tokens += tokens
        self.seconds += seconds

    @property
    def tokens_per_second(self) -> float:
        """Target tokens learned from in a second of training."""
        return round(self.tokens / max(self.seconds, 1e-9), 1)

    def means(self, team: Team) -> dict[str, float]:
        """Return the mean of each part over the window, the same on every process."""
        values = torch.stack([self.sums.get(name, torch.zeros((), device=self.device)) for name in self.counts])
        totals = team.sum_values(values).tolist()
        return {name: total / self.counts[name] for name, total in zip(self.counts, totals, strict=True)}


def _total(counts: list[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            total[name] = total.get(name, 0) + count
    return total


def _derived_seed(*parts: int) -> int:
    """Return a seed that depends on all parts and on nothing else."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0])

"""The training loop of all tasks; model, feed, objective, machine and hooks are passed in."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from regard.checkpoint.bundle import TrainingState
from regard.data.feeds.feed import Feed, Update
from regard.data.prefetch import Prefetcher
from regard.models.base.protocols import Scheduled
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.loss import Objective
from regard.progress import SILENT, Bar, Progress
from regard.training.device.cuda_graphs import Sums, build_gradients
from regard.training.device.machine import Machine
from regard.training.divergence import Divergence, collapse, detect_explosion, recover
from regard.training.ema import Ema, copies, fill
from regard.training.interrupt import catching_interrupts
from regard.training.metrics_window import MetricsWindow, total
from regard.training.oom import smaller_limit, validate_or_release
from regard.training.optimizers import build_optimizer, optimizer_tensors, restore_optimizer
from regard.training.parallel.process_group import ProcessGroup
from regard.training.saved import saved_snapshot
from regard.training.schedules import learning_rate
from regard.training.seeds import derived_seed
from regard.training.settings import TrainSettings
from regard.training.snapshot import Snapshot
from regard.training.state import LoopState
from regard.training.validation_line import ValidationLine

Reason = Literal["finished", "no improvement", "interrupted"]
Record = dict[str, float]

PREFETCHED = 8
"""Updates that are prepared ahead of the GPU."""


@dataclass(frozen=True)
class Hooks:
    """The callbacks of the loop: validation, checkpoints, metrics and progress."""

    validate: Callable[[Any], dict[str, float]]
    save: Callable[[LoopState, TrainingState, float | None], None]
    """Saves the model and its training state with its selection metric (None: not validated)."""
    record: Callable[[Record], None] = lambda record: None
    forget: Callable[[int], None] = lambda step: None
    """Drops the records after a step, which is about to be repeated."""
    progress: Progress = SILENT


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
        team: ProcessGroup | None = None,
    ) -> None:
        self.model = model.to(machine.device)
        self.feed, self.settings, self.hooks = feed, settings, hooks
        self.machine, self.seed, self.width, self.team = machine, seed, width, team or ProcessGroup()
        self.optimizer = build_optimizer(self.model, settings)
        self.gradients = build_gradients(self.model, objective, machine)
        self.checks_every_step = machine.device.type == "cpu"  # reading a value synchronizes with a GPU
        self.average, self.state = Ema(self.model, settings.ema_decay), LoopState()
        self._window, self._clock = MetricsWindow(machine.device), time.perf_counter()
        self._last_good: Snapshot | None = None
        self._collapse: dict[str, str] = {}
        self._updates: Iterator[Update] = iter(())
        self.received: list[int] = []  # the signal that requested a stop
        self._line = ValidationLine()

    def restore(self, training: TrainingState) -> None:
        """Resume from a saved state; the model holds the weights that were saved with it."""
        self._load(saved_snapshot(training, self.average, self.settings))

    def run(self, stop_at: int | None = None) -> Reason:
        """Train until the last step, early stopping or an interrupt (at a step, if given); return the reason."""
        settings = self.settings
        self._last_good = self._snapshot()
        self._rewind()
        self._clock = time.perf_counter()
        self._line.begin(self.state.step)
        with (
            closing(self),
            catching_interrupts() as self.received,
            self.hooks.progress.bar("train", settings.steps, self.state.step) as bar,
        ):
            while self.state.step < settings.steps and not self._patience_is_over():
                self._update(self._next())
                step = self.state.step
                validates = step % settings.validate_every == 0 or step == settings.steps
                saves = bool(settings.save_every) and step % settings.save_every == 0
                stops = self.team.agree(bool(self.received) or step == stop_at, self.machine.device)
                divergence = self._report(bar, must_check=validates or saves or stops)
                if validates and not divergence:
                    divergence = self._validate()
                elif (saves or stops) and not divergence:
                    self._save()
                if divergence:
                    self._roll_back(divergence, bar)
                if stops:
                    return "interrupted"
        return "no improvement" if self._patience_is_over() else "finished"

    def _patience_is_over(self) -> bool:
        return bool(self.settings.patience) and self.state.stale >= self.settings.patience

    def _rewind(self) -> None:
        """Iterate over updates from the current position, in micro-batches within the limit."""
        if self.state.micro_batch_limit is not None:
            self.feed.limit = min(self.feed.limit, self.state.micro_batch_limit)
        self.close()
        self._updates = self.feed.updates(self.state.position, self.team.rank, self.team.size)
        if self.machine.device.type != "cpu":  # a CPU is busy with the updates themselves
            self._updates = Prefetcher(self._updates, PREFETCHED)

    def close(self) -> None:
        """Stop prefetching, and drop prefetched updates."""
        if isinstance(self._updates, Prefetcher):
            self._updates.close()

    def _next(self) -> Update:
        """Return the next update that is not skipped."""
        started = time.perf_counter()
        update = next(self._updates)
        while self.state.position in self.state.skipped:
            self.state.position = update.following
            update = next(self._updates)
        waited = time.perf_counter() - started
        self._window.waited += waited
        self.state.waited += waited
        return update

    def _update(self, update: Update) -> None:
        """Take one optimizer step, independent of its division into micro-batches and among processes."""
        state, device = self.state, self.machine.device
        state.step += 1
        self.model.train()
        if isinstance(self.model, Scheduled):
            self.model.advance(state.step / self.settings.steps)
        objective = self.gradients.objective
        zeros = dict.fromkeys(objective.parts, 0)  # a process may have no part of a small update
        counts = total([zeros, *(objective.counts(batch) for batch in update.micro_batches)])
        counts = self.team.sum_counts(counts, device)
        while (sums := self._gradients(update, counts)) is None:
            update = self._split_further(update)
        self.team.sum_gradients(self.model)
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.settings.clip_norm:
            torch.nn.utils.clip_grads_with_norm_(self.model.parameters(), self.settings.clip_norm, norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        self.optimizer.step()
        self.gradients.clear()
        self.average.update(state.step)
        self._window.watch(state.position, norm + sum(sums.values()))
        state.position = update.following
        tokens = max(counts.values()) if update.tokens is None else update.tokens
        state.tokens_seen += tokens
        self._window.add(sums, counts, tokens, self._elapsed())

    def _elapsed(self) -> float:
        """Return and accumulate the wall-clock seconds since the last call, the time of queued GPU work included."""
        now = time.perf_counter()
        elapsed, self._clock = now - self._clock, now
        self.state.seconds += elapsed
        return elapsed

    def _gradients(self, update: Update, counts: dict[str, int]) -> Sums | None:
        """Compute this process' gradients and return its loss sums; None if memory ran out on any process."""
        sums: Sums = {}
        is_out = False
        self.gradients.begin(counts, len(update.micro_batches))
        try:
            for number, batch in enumerate(update.micro_batches):
                torch.manual_seed(derived_seed(self.seed, self.state.step, number, self.team.rank))
                sums = total([sums, self.gradients.add(batch)])
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            is_out = True
        return None if self.team.agree(is_out, self.machine.device) else sums

    def _split_further(self, update: Update) -> Update:
        """Return the same update in smaller micro-batches, whose limit later updates keep."""
        self.gradients.release()
        limit = self.state.micro_batch_limit = smaller_limit(update, self.state.step)
        self.hooks.progress.warn(
            f"step {self.state.step:,}: out of memory; from here on micro-batches hold at most {limit:,} tokens, "
            f"with the same examples in an update (train.micro_batch_tokens={limit} sets this from the beginning)."
        )
        self.hooks.record({"step": self.state.step, "micro_batch_tokens": limit})
        self._rewind()
        return next(self._updates)

    def _rate(self) -> float:
        return self.state.rate_factor * learning_rate(self.settings, self.state.step, self.width)

    def _report(self, bar: Bar, must_check: bool) -> Divergence | None:
        """Show and record metrics; return a divergence if there is one."""
        state = self.state
        is_due = state.step % self.settings.log_every == 0
        if not (is_due or must_check or self.checks_every_step):
            bar.advance(1)
            return None
        if (culprit := self._window.first_non_finite(self.team)) is not None:
            bar.advance(1)
            return Divergence("the loss is NaN or infinite", culprit)
        means = self._window.means(self.team)
        self._window.seconds += self._elapsed()  # the device has finished its queue by now
        loss = next(iter(means.values()), 0.0)  # none, if nothing since the last line had a label
        speed = self._window.tokens_per_second
        self._line.train_loss = means.get("nll", loss)
        bar.advance(1, loss=self._line.train_loss, tokens_per_second=speed)
        if not is_due:
            return None
        record = {"step": state.step, "epoch": state.position.epoch, "seconds": round(state.seconds, 3)}
        record |= means | {"learning_rate": self._rate(), "tokens_per_second": speed}
        self.hooks.record(record | {"data_wait": self._window.waiting})
        self._window = MetricsWindow(self.machine.device)
        return detect_explosion(state, loss) if means else None

    def _validate(self) -> Divergence | None:
        """Validate, update the best metric, and save a checkpoint; return a divergence if a metric is not finite."""
        state = self.state
        self.model.eval()
        with self.average.applied():
            metrics = validate_or_release(lambda: self.hooks.validate(self.model), self.gradients.release, state.step)
        for name, metric in metrics.items():
            if not math.isfinite(metric):
                return Divergence(f"the validation's {name} is NaN or infinite")
        value = metrics[self.settings.select_by] * (-1.0 if self.settings.select_by == "loss" else 1.0)
        if state.best is None or value > state.best:
            state.best, state.best_step, state.stale, state.tries = value, state.step, 0, 0
        else:
            state.stale += 1
        named = {f"valid_{name}": metric for name, metric in metrics.items()}
        self.hooks.record({"step": state.step, "seconds": round(state.seconds, 3)} | named)
        self._warn_of_collapse(metrics)
        self._save(value)
        self.hooks.progress.info(self._line.text(state, self.settings, metrics))
        return None

    def _warn_of_collapse(self, metrics: dict[str, float]) -> None:
        """Warn of a collapse, once while it lasts."""
        warnings = collapse(metrics, self.settings, self.state.step)
        for metric, warning in warnings.items():
            if metric not in self._collapse:
                self.hooks.progress.warn(warning)
        self._collapse = warnings

    def _save(self, value: float | None = None) -> None:
        """Save a checkpoint, and make it the state to roll back to."""
        self._last_good = self._snapshot()
        with self.average.applied():
            self.hooks.save(self.state, self._last_good.training_state(), value)
        self._clock = time.perf_counter()  # validation and saving do not count as training time

    def _roll_back(self, divergence: Divergence, bar: Bar) -> None:
        """Return to the last good state with a lower rate or a skipped update, and save that, in case of a kill."""
        assert self._last_good is not None, "run takes the first snapshot"
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

    def _snapshot(self) -> Snapshot:
        weights, average = copies(self.average.parameters), copies(self.average.values)
        optimizer = copies(optimizer_tensors(self.model, self.optimizer))
        return Snapshot(weights, average, optimizer, self.state.plain(), self._window.plain(self.team))

    def _load(self, snapshot: Snapshot) -> None:
        fill(self.average.parameters, snapshot.weights)
        fill(self.average.values, snapshot.average)
        restore_optimizer(self.model, self.optimizer, snapshot.optimizer)
        self.state = LoopState.from_plain(snapshot.loop)
        self._window = MetricsWindow.from_plain(snapshot.window, self.machine.device, self.team)

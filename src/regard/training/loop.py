"""The one training loop: updates in, a better model out; everything that varies is handed in."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
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
from regard.training.device.cuda_graphs import build_gradients
from regard.training.device.machine import Machine
from regard.training.divergence import Divergence, collapse, learn_from, notice_explosion
from regard.training.ema import Ema, copies, fill
from regard.training.interrupt import catching_interrupts
from regard.training.metrics_window import MetricsWindow, Sums, total
from regard.training.oom import smaller_limit, validated
from regard.training.optimizers import build_optimizer, optimizer_tensors, restore_optimizer
from regard.training.parallel.process_group import ProcessGroup
from regard.training.saved import saved_snapshot
from regard.training.schedules import learning_rate
from regard.training.seeds import derived_seed
from regard.training.settings import TrainSettings
from regard.training.snapshot import Snapshot
from regard.training.state import LoopState

Reason = Literal["finished", "no improvement", "interrupted"]
Record = dict[str, float]

MADE_READY = 8
"""Updates that wait for a GPU."""


@dataclass(frozen=True)
class Hooks:
    """What the loop calls: how to validate, where to save, where to report."""

    validate: Callable[[Any], dict[str, float]]
    save: Callable[[LoopState, TrainingState, float | None], None]
    """Saves the model and its training state with the value of its validation (None: not validated)."""
    record: Callable[[Record], None] = lambda record: None
    forget: Callable[[int], None] = lambda step: None
    """Drops the records after a step, which is about to be taken another time."""
    progress: Progress = SILENT

    def recording(self, record: Callable[[Record], None], forget: Callable[[int], None]) -> "Hooks":
        """Return the same hooks with another place for records."""
        return replace(self, record=record, forget=forget)


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
        self.looks_each_step = machine.device.type == "cpu"  # asking a GPU stalls it
        self.average = Ema(self.model, settings.ema_decay)
        self.state = LoopState()
        self._window = MetricsWindow(machine.device)
        self._clock = time.perf_counter()
        self._good: Snapshot | None = None
        self._collapse: dict[str, str] = {}
        self._updates: Iterator[Update] = iter(())

    def restore(self, training: TrainingState) -> None:
        """Go on from a saved state; the model holds the weights that were saved with it."""
        self._return_to(saved_snapshot(training, self.average, self.settings))

    def run(self, stop_at: int | None = None) -> Reason:
        """Train until the last step, the end of patience or an interrupt (at a step, if given), and say which."""
        settings = self.settings
        self._good = self._snapshot()
        self._rewind()
        self._clock = time.perf_counter()
        with (
            closing(self),
            catching_interrupts() as interrupted,
            self.hooks.progress.bar("train", settings.steps, self.state.step) as bar,
        ):
            while self.state.step < settings.steps and not self._patience_is_over():
                self._update(self._next())
                step = self.state.step
                validates = step % settings.validate_every == 0 or step == settings.steps
                saves = bool(settings.save_every) and step % settings.save_every == 0
                stops = self.team.agree(interrupted() or step == stop_at, self.machine.device)
                trouble = self._report(bar, must_look=validates or saves or stops)
                if validates and not trouble:
                    trouble = self._validate()
                elif (saves or stops) and not trouble:
                    self._save()
                if trouble:
                    self._go_back(trouble, bar)
                if stops:
                    return "interrupted"
        return "no improvement" if self._patience_is_over() else "finished"

    def _patience_is_over(self) -> bool:
        return bool(self.settings.patience) and self.state.stale >= self.settings.patience

    def _rewind(self) -> None:
        """Ask for updates from the position reached on, cut as memory allows."""
        if self.state.micro_batch_limit is not None:
            self.feed.limit = min(self.feed.limit, self.state.micro_batch_limit)
        self.close()
        self._updates = self.feed.updates(self.state.position, self.team.rank, self.team.size)
        if self.machine.device.type != "cpu":  # whose cores are busy with the updates themselves
            self._updates = Prefetcher(self._updates, MADE_READY)

    def close(self) -> None:
        """Let go of updates that were made ready."""
        if isinstance(self._updates, Prefetcher):
            self._updates.close()

    def _next(self) -> Update:
        """Return the next update; one that is known to do harm is passed over."""
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
        """Learn from one update: the same step however it is cut into micro-batches and shared among processes."""
        state, device = self.state, self.machine.device
        state.step += 1
        self.model.train()
        if isinstance(self.model, Scheduled):
            self.model.advance(state.step / self.settings.steps)
        objective = self.gradients.objective
        nothing = dict.fromkeys(objective.parts, 0)  # a process may have no share in a small update
        counts = total([nothing, *(objective.counts(batch) for batch in update.micro_batches)])
        counts = self.team.sum_counts(counts, device)
        while (sums := self._gradients(update, counts)) is None:
            update = self._cut_further(update)
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
        """Return and add up the seconds since the last call: the wall clock, so that a GPU's queue is in it."""
        now = time.perf_counter()
        elapsed, self._clock = now - self._clock, now
        self.state.seconds += elapsed
        return elapsed

    def _gradients(self, update: Update, counts: dict[str, int]) -> Sums | None:
        """Leave the gradients of this process' share and return its sums; None: memory ran out on some process."""
        sums: Sums = {}
        is_short = False
        self.gradients.begin(counts, len(update.micro_batches))
        try:
            for number, batch in enumerate(update.micro_batches):
                torch.manual_seed(derived_seed(self.seed, self.state.step, number, self.team.rank))
                sums = total([sums, self.gradients.add(batch)])
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            is_short = True
        return None if self.team.agree(is_short, self.machine.device) else sums

    def _cut_further(self, update: Update) -> Update:
        """Return the same update in smaller micro-batches, which later ones are to keep to as well."""
        self.gradients.release()
        limit = self.state.micro_batch_limit = smaller_limit(update, self.state.step)
        self.hooks.progress.warn(
            f"step {self.state.step:,}: memory ran out; from here on micro-batches hold {limit:,} tokens at most, "
            f"and the same examples make an update (train.micro_batch_tokens={limit} says so from the start)."
        )
        self.hooks.record({"step": self.state.step, "micro_batch_tokens": limit})
        self._rewind()
        return next(self._updates)

    def _rate(self) -> float:
        return self.state.rate_factor * learning_rate(self.settings, self.state.step, self.width)

    def _report(self, bar: Bar, must_look: bool) -> Divergence | None:
        """Show and record how it goes, and tell trouble."""
        state = self.state
        is_due = state.step % self.settings.log_every == 0
        if not (is_due or must_look or self.looks_each_step):
            bar.advance(1)
            return None
        if (ill := self._window.first_ill(self.team)) is not None:
            bar.advance(1)
            return Divergence("the loss is no longer a number", ill)
        means = self._window.means(self.team)
        self._window.seconds += self._elapsed()  # the device has now done what was asked of it
        loss = next(iter(means.values()), 0.0)  # none, where nothing since the last report had a label
        speed = self._window.tokens_per_second
        bar.advance(1, loss=loss, tokens_per_second=speed)
        if not is_due:
            return None
        record = {"step": state.step, "epoch": state.position.epoch, "seconds": round(state.seconds, 3)}
        record |= means | {"learning_rate": self._rate(), "tokens_per_second": speed}
        self.hooks.record(record | {"data_wait": self._window.waiting})
        self._window = MetricsWindow(self.machine.device)
        return notice_explosion(state, loss) if means else None

    def _validate(self) -> Divergence | None:
        """Measure, decide whether this is the best model so far, and save it."""
        state = self.state
        self.model.eval()
        with self.average.standing_in():
            measured = validated(lambda: self.hooks.validate(self.model), self.gradients.release, state.step)
        for name, figure in measured.items():
            if not math.isfinite(figure):
                return Divergence(f"the validation's {name} is no longer a number")
        value = measured[self.settings.select_by] * (-1.0 if self.settings.select_by == "loss" else 1.0)
        if state.best is None or value > state.best:
            state.best, state.best_step, state.stale, state.tries = value, state.step, 0, 0
        else:
            state.stale += 1
        named = {f"valid_{name}": figure for name, figure in measured.items()}
        self.hooks.record({"step": state.step, "seconds": round(state.seconds, 3)} | named)
        self._warn_of_collapse(measured)
        self._save(value)
        return None

    def _warn_of_collapse(self, measured: dict[str, float]) -> None:
        """Name a collapse in words, once as long as it lasts."""
        found = collapse(measured, self.settings, self.state.step)
        for figure, words in found.items():
            if figure not in self._collapse:
                self.hooks.progress.warn(words)
        self._collapse = found

    def _save(self, value: float | None = None) -> None:
        """Save, and make this the state that trouble goes back to."""
        self._good = self._snapshot()
        with self.average.standing_in():
            self.hooks.save(self.state, self._good.training_state(), value)
        self._clock = time.perf_counter()  # time spent measuring and saving is no training

    def _go_back(self, trouble: Divergence, bar: Bar) -> None:
        """Return to the last good state, wiser, and save that: the decision outlives a kill."""
        assert self._good is not None, "run takes the first snapshot"
        failed = self.state
        good = LoopState.from_plain(self._good.facts["loop"])
        words = learn_from(trouble, failed, good, self.settings)
        self._return_to(self._good)
        self.state = good
        self._rewind()
        bar.advance(good.step - failed.step)
        self.hooks.forget(good.step)
        self._save()
        self.hooks.record({"step": good.step, "returned_from": failed.step, "rate_factor": good.rate_factor})
        self.hooks.progress.warn(words)

    def _snapshot(self) -> Snapshot:
        facts = {"loop": self.state.plain(), "window": self._window.plain(self.team)}
        optimizer = copies(optimizer_tensors(self.model, self.optimizer))
        return Snapshot(copies(self.average.parameters), copies(self.average.values), optimizer, facts)

    def _return_to(self, snapshot: Snapshot) -> None:
        fill(self.average.parameters, snapshot.weights)
        fill(self.average.values, snapshot.average)
        restore_optimizer(self.model, self.optimizer, snapshot.optimizer)
        self.state = LoopState.from_plain(snapshot.facts["loop"])
        self._window = MetricsWindow.from_plain(snapshot.facts["window"], self.machine.device, self.team)

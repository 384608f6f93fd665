"""The training loop of all tasks; model, feed, objective, machine and hooks are passed in."""

import math
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Literal

import torch
from torch import nn

from regard.data.feeds.feed import Feed, Update
from regard.data.prefetch import Prefetcher
from regard.models.base.protocols import Scheduled
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.loss import Objective
from regard.progress import Bar
from regard.training.device.cuda_graphs import Sums
from regard.training.device.machine import Machine
from regard.training.divergence import Divergence, detect_explosion
from regard.training.ending import RunClock
from regard.training.hooks import Hooks
from regard.training.interrupt import catching_interrupts
from regard.training.metrics_window import MetricsWindow, total
from regard.training.oom import smaller_limit, validate_or_release
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import clip, total_norm
from regard.training.recoverable import Recoverable
from regard.training.schedules import learning_rate
from regard.training.seeds import derived_seed
from regard.training.settings import TrainSettings
from regard.training.standstill import learns_nothing, standstill, way_out, worth_telling

Reason = Literal["finished", "no improvement", "interrupted"]

PREFETCHED = 8
"""Updates that are prepared ahead of the GPU."""


class Trainer(Recoverable):
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
        clock: RunClock | None = None,
    ) -> None:
        super().__init__(model, objective, settings, machine, hooks, team, clock)
        self.feed, self.seed, self.width = feed, seed, width
        self.checks_every_step = machine.device.type == "cpu"  # reading a value synchronizes with a GPU
        self._warned: dict[str, str] = {}
        self._updates: Iterator[Update] = iter(())
        self.received: list[int] = []  # the signal that requested a stop

    def run(self, stop_at: int | None = None) -> Reason:
        """Train until the last step, early stopping or an interrupt (at a step, if given); return the reason."""
        settings, ending = self.settings, self.ending
        self._last_good = self._snapshot()
        self._rewind()
        self._clock = time.perf_counter()
        self._line.begin(self.state.step)
        length, stops = None if settings.ends_itself else settings.steps, False
        with (
            closing(self),
            catching_interrupts() as self.received,
            self.hooks.progress.bar("train", length, self.state.step) as bar,
        ):
            while not ending.is_over(self.state):
                self.hooks.writer.check()
                self._update(self._next())
                step = self.state.step
                is_last = step == ending.last_step(self.state)
                validates = is_last or (step % settings.validate_every == 0 and self._may_validate())
                saves = bool(settings.save_every) and step % settings.save_every == 0
                stops = self.team.agree(bool(self.received) or step == stop_at, self.machine.device)
                divergence = self._report(bar, must_check=validates or saves or stops)
                if validates and not divergence:
                    divergence = self._validate()
                elif (saves or stops) and not divergence:
                    self._save()
                if divergence:
                    self._roll_back(divergence, bar)
                else:
                    self._fall(validates)
                if stops:
                    break
            self.hooks.writer.wait()
        if stops:
            return "interrupted"
        return "finished" if self.state.step >= ending.last_step(self.state) else "no improvement"

    def _may_validate(self) -> bool:
        """Return False where a time limit leaves no time for a validation before the last one."""
        if self.settings.minutes is None:
            return True
        return not self.team.agree(not self.ending.may_validate(self.state), self.machine.device)

    def _fall(self, validates: bool) -> None:
        """Let the rate of the schedule wsd fall from here on, if it is time to, and keep the fall within the time."""
        settings, state, ending = self.settings, self.state, self.ending
        if settings.schedule != "wsd" or not (validates or state.step % settings.log_every == 0):
            return
        reason = ending.reason_to_fall(state)
        if self.team.agree(bool(reason), self.machine.device):
            ending.begin_fall(state)
            self.hooks.record({"step": state.step, "decay_steps": state.decay_steps})
            self.hooks.progress.info(
                f"step {state.step:,}: {reason}, so the learning rate falls to 0 in {state.decay_steps:,} updates."
            )
        elif self.team.agree(ending.is_late(state), self.machine.device):
            ending.shorten(state)
        elif self.team.agree(ending.is_early(state), self.machine.device) and not ending.is_over(state):
            ending.lengthen(state)

    def _rewind(self) -> None:
        """Iterate over updates from the current position, in micro-batches within the limit."""
        if self.state.micro_batch_limit is not None:
            self.feed.limit = min(self.feed.limit, self.state.micro_batch_limit)
        self.close()
        self._updates = self.feed.updates(self.state.position, self.team.data_rank, self.team.data_size)
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
            self.model.advance(self._progress())
        objective = self.gradients.objective
        zeros = dict.fromkeys(objective.parts, 0)  # a process may have no part of a small update
        counts = total([zeros, *(objective.counts(batch) for batch in update.micro_batches)])
        counts = self.team.sum_counts(counts, device)
        while (sums := self._gradients(update, counts)) is None:
            update = self._split_further(update)
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        norm = total_norm(gradients)
        if self.settings.clip_norm:
            clip(gradients, self.settings.clip_norm, norm)
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

    def _progress(self) -> float:
        """Return the fraction of the training that is done, the same on every process."""
        progress = self.ending.progress(self.state)
        if self.settings.minutes is None:
            return progress
        return float(self.team.sum_values(torch.tensor([progress], device=self.machine.device))) / self.team.data_size

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
        self.gradients.begin(counts, len(update.micro_batches) + (update.filler is not None))
        try:
            for number, batch in enumerate(update.micro_batches):
                torch.manual_seed(derived_seed(self.seed, self.state.step, number, self.team.data_rank))
                sums = total([sums, self.gradients.add(batch)])
            if update.filler is not None:
                self.gradients.fill(update.filler)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            is_out = True
        if self.team.agree(is_out, self.machine.device):
            return None
        self.gradients.finish()
        return sums

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
        state = self.state
        fall = None if state.decay_from is None else (state.decay_from, state.decay_steps)
        return state.rate_factor * learning_rate(self.settings, state.step, self.width, fall)

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
        self.ending.measure(self._window.seconds / self.settings.log_every)
        state.first_loss = loss if state.first_loss is None else state.first_loss
        self._window = MetricsWindow(self.machine.device)
        return detect_explosion(state, loss) if means else None

    def _validate(self) -> Divergence | None:
        """Validate, update the best metric, and save a checkpoint; return a divergence if a metric is not finite."""
        state, settings, started = self.state, self.settings, time.monotonic()
        self.model.eval()
        with self.average.applied(), self.gradients.evaluating(self.team):
            metrics = validate_or_release(lambda: self.hooks.validate(self.model), self.gradients.release, state.step)
        metrics = self.team.share_values(metrics)  # decisions are the same in all processes
        for name, metric in metrics.items():
            if not math.isfinite(metric):
                return Divergence(f"the validation's {name} is NaN or infinite")
        self.ending.measure_validation(time.monotonic() - started)
        value = state.rank(metrics[settings.select_by] * (-1.0 if settings.select_by == "loss" else 1.0), metrics)
        named = {f"valid_{name}": metric for name, metric in metrics.items()}
        self.hooks.record({"step": state.step, "seconds": round(state.seconds, 3)} | named)
        if stuck := self._watch(metrics):
            return stuck
        self._save(value)
        self.hooks.progress.info(self._line.text(state, settings, metrics, self.ending))
        return None

    def _watch(self, metrics: dict[str, float]) -> Divergence | None:
        """Report a model that learns nothing, once while it lasts; return a divergence once it lasts too long."""
        state, settings = self.state, self.settings
        reasons = standstill(metrics, self.hooks.baseline, state, self._line.train_loss)
        state.stuck = state.stuck + 1 if reasons and state.step > settings.warmup else 0
        if state.stuck and learns_nothing(state, settings) and self.hooks.untrained is not None:
            return Divergence(next(iter(reasons.values())), restarts=True)
        told = worth_telling(reasons, state, settings, self.ending.last_step(state))
        for name, reason in told.items():
            if name not in self._warned:
                self.hooks.progress.warn(f"step {state.step:,}: {reason}; {way_out(settings, state.step)}.")
        self._warned = told
        return None

"""word2vec training: slices of the text go to threads of a compiled loop, or to a GPU in batches."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import torch

from regard.checkpoint.bundle import TrainingState
from regard.data.feeds.sampler import Position
from regard.data.feeds.word2vec import SLICE, Word2VecFeed
from regard.errors import ConfigError
from regard.models.word_vectors import WordVectorTables
from regard.objectives.settings import VectorObjectiveSettings
from regard.objectives.word2vec import keep_probabilities
from regard.training.device.machine import Machine
from regard.training.divergence import restarted
from regard.training.hooks import Hooks
from regard.training.interrupt import catching_interrupts
from regard.training.loop import Reason
from regard.training.parallel.process_group import ProcessGroup
from regard.training.saved import StateRecord, checked_state
from regard.training.seeds import derived_seed
from regard.training.snapshot import Snapshot
from regard.training.standstill import VALIDATIONS, way_out
from regard.training.state import LoopState
from regard.training.word2vec.batches import Batches
from regard.training.word2vec.settings import RATES, VectorTrainSettings

LEARNED = 0.97
"""Fraction of the loss of untrained vectors from which on vectors have learned nothing."""
ABOVE = 1.05
"""A loss above that of untrained vectors by this factor, for some steps, is that of a rate that is too high."""
WATCHED = 64
"""Number of most frequent words whose vectors are checked: divergence reaches them first."""


class Engine(Protocol):
    """An implementation of one training step."""

    def learn(self, slices: list[tuple[int, int]], seeds: list[int], rates: list[float]) -> tuple[float, int]:
        """Train the tables on slices of the text; return the sum of losses and the number of pairs."""

    def close(self) -> None:
        """Release threads."""


class VectorTrainer:
    """Trains input and output vectors on a stream of words, with the interface of `Trainer`."""

    def __init__(
        self,
        model: WordVectorTables,
        feed: Word2VecFeed,
        objective: VectorObjectiveSettings,
        settings: VectorTrainSettings,
        machine: Machine,
        hooks: Hooks,
        *,
        seed: int,
        algorithm: str,
        team: ProcessGroup,
    ) -> None:
        if team.size > 1:
            raise ConfigError(
                "Word vectors train in one process; leave out --processes and torchrun, and set --threads for more "
                "cores."
            )
        self.model = model.to(machine.device)
        self.feed, self.objective, self.settings = feed, objective, settings
        self.machine, self.hooks, self.seed, self.team = machine, hooks, seed, team
        self.algorithm = algorithm
        self.state = LoopState()
        self._clock = time.perf_counter()
        self.received: list[int] = []

    def restore(self, training: TrainingState) -> None:
        """Resume from a saved state; the model holds the tables that were saved with it."""
        self.state = LoopState.from_plain(Snapshot.of(checked_state(training, StateRecord), {}).loop)

    def run(self, stop_at: int | None = None) -> Reason:
        """Train until the last step or an interrupt (at a step, if given); return the reason."""
        settings = self.settings
        per_epoch, size = self.feed.updates_in(0), len(self.feed.corpus)
        total = self._words(settings.steps)
        engine = self._engine()
        self._clock = time.perf_counter()
        try:
            with (
                catching_interrupts() as self.received,
                self.hooks.progress.bar("train", total, self._words(self.state.step)) as bar,
            ):
                while self.state.step < settings.steps:
                    self.hooks.writer.check()
                    state = self.state
                    epoch, index = divmod(state.step, per_epoch)
                    slices = self.feed.slices(index)
                    done = [epoch * size + begin for begin, _ in slices]
                    seeds = [derived_seed(self.seed, word // SLICE, 0, 0) for word in done]
                    loss, pairs = engine.learn(slices, seeds, [self._rate(word / total) for word in done])
                    words = slices[-1][1] - slices[0][0]
                    state.step += 1
                    state.position = Position(*divmod(state.step, per_epoch))
                    state.tokens_seen += words
                    elapsed = self._elapsed()
                    mean = loss / max(1, pairs)
                    if reason := self._trouble(mean):
                        bar.advance(-self._words(state.step - 1))
                        self._restart(reason)
                        continue
                    bar.advance(words, loss=mean, words_per_second=words / elapsed)
                    self._record(mean, self._rate(done[-1] / total), words / elapsed)
                    stops = bool(self.received) or state.step == stop_at
                    is_due = bool(settings.save_every) and state.step % settings.save_every == 0
                    if stops or is_due or state.step == settings.steps:
                        self._save()
                    if stops and state.step < settings.steps:
                        self.hooks.writer.wait()
                        return "interrupted"
                self.hooks.writer.wait()
        finally:
            engine.close()
        if (recent := self.state.recent) and sum(recent) / len(recent) >= LEARNED * self._untrained:
            self.hooks.progress.warn(
                f"step {self.state.step:,}: the training loss is {recent[-1]:.4g}, and {self._untrained:.4g} "
                f"without any training, so these vectors mean little; raise train.epochs, or add text."
            )
        return "finished"

    def _words(self, step: int) -> int:
        """Return the number of words before a step."""
        epoch, index = divmod(step, self.feed.updates_in(0))
        return epoch * len(self.feed.corpus) + index * self.feed.words_per_update

    def _rate(self, fraction: float) -> float:
        first = self.state.rate_factor * (self.settings.learning_rate or RATES[self.algorithm])
        return max(self.settings.final_rate, first - (first - self.settings.final_rate) * fraction)

    def _engine(self) -> Engine:
        kind = self.settings.engine
        is_cpu = self.machine.device.type == "cpu"
        if kind == "kernel" and not is_cpu:
            raise ConfigError(
                f'train.engine: "kernel" runs on a CPU only, and this is {self.machine.device}; omit it.'
            )
        if kind == "batches" or not is_cpu:
            return Batches(self.model, self.feed, self.objective, self.settings, self.algorithm, self.machine.device)
        threads = torch.get_num_threads()
        if threads > 1:
            self.hooks.progress.info(
                f"{threads} threads update the vectors without locks: fast, but runs, resumed ones included, are not "
                f"bitwise reproducible; --threads 1 is."
            )
        return Kernel(self.model, self.feed, self.objective, self.algorithm, threads)

    def _is_finite(self) -> bool:
        """Return True if the vectors of the most frequent words are finite."""
        return all(bool(table.weight[:WATCHED].isfinite().all()) for table in (self.model.words, self.model.contexts))

    def _elapsed(self) -> float:
        now = time.perf_counter()
        elapsed, self._clock = now - self._clock, now
        self.state.seconds += elapsed
        return elapsed

    def _record(self, loss: float, rate: float, speed: float) -> None:
        state = self.state
        if state.step % self.settings.log_every == 0:
            record = {"step": state.step, "epoch": state.position.epoch, "seconds": round(state.seconds, 3)}
            self.hooks.record(record | {"pair": loss, "learning_rate": rate, "tokens_per_second": speed})

    def _save(self) -> None:
        self.state.best_step = self.state.step
        self.hooks.save(self.state, TrainingState({}, {"loop": self.state.plain()}), None)
        self._clock = time.perf_counter()  # saving does not count as training time

    def _trouble(self, loss: float) -> str:
        """Return what shows that training has diverged: a loss that is not finite, or above that of no training."""
        if not (math.isfinite(loss) and self._is_finite()):
            return "the loss is NaN or infinite"
        state, untrained = self.state, self._untrained
        state.recent = [*state.recent, loss][-VALIDATIONS:]
        if len(state.recent) < VALIDATIONS or min(state.recent) < ABOVE * untrained:
            return ""
        return f"the training loss is {min(state.recent):.4g}, and {untrained:.4g} without any training"

    @property
    def _untrained(self) -> float:
        """The loss of vectors whose products are all 0."""
        return (1 + self.objective.negatives) * math.log(2)

    def _restart(self, reason: str) -> None:
        """Begin anew with untrained vectors and half the rate, and save that, in case of a kill."""
        failed, fresh = self.state, self.hooks.untrained() if self.hooks.untrained else None
        rate = self.settings.model_copy(update={"learning_rate": self._rate(0.0)})
        self.state, message = restarted(failed, self.settings, reason, way_out(rate))
        assert fresh is not None, "a run makes its model anew"
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():  # in place: threads hold their memory
                parameter.copy_(fresh.get_parameter(name))
        self.hooks.forget(0)
        self._save()
        self.hooks.drop_older()
        self.hooks.record({"step": 0, "returned_from": failed.step, "rate_factor": self.state.rate_factor})
        self.hooks.progress.warn(message)


class Kernel:
    """The compiled loop on several threads, a slice each at a time."""

    def __init__(
        self,
        model: WordVectorTables,
        feed: Word2VecFeed,
        objective: VectorObjectiveSettings,
        algorithm: str,
        threads: int,
    ) -> None:
        from regard.nn.kernels.word2vec import HALF, SLICES, logistic_tables

        self.feed, self.objective = feed, objective
        self.learn_slice = SLICES[algorithm]
        self.words, self.contexts = (table.weight.detach().numpy() for table in (model.words, model.contexts))
        keep = keep_probabilities(torch.from_numpy(feed.counts), objective.subsampling).numpy()
        self.keep = np.minimum(keep * HALF, HALF - 1).astype(np.uint32)
        self.noise = alias_table(feed.counts.astype(np.float64) ** objective.smoothing)
        self.logistic = logistic_tables()
        self.threads = ThreadPoolExecutor(threads)

    def learn(self, slices: list[tuple[int, int]], seeds: list[int], rates: list[float]) -> tuple[float, int]:
        """Train on slices, each by one thread; return the sum of losses and the number of pairs."""
        results = list(self.threads.map(self._learn, slices, seeds, rates))
        return sum(loss for loss, _ in results), sum(pairs for _, pairs in results)

    def _learn(self, span: tuple[int, int], seed: int, rate: float) -> tuple[float, int]:
        ids = self.feed.read(*span)
        kept, errors = np.empty(len(ids), np.int32), np.empty(self.words.shape[1], np.float32)
        window, negatives = self.objective.window, self.objective.negatives
        result: tuple[float, int] = self.learn_slice(
            *(ids, len(self.words), self.keep, self.words, self.contexts, *self.noise, *self.logistic),
            *(window, negatives, np.float32(rate), np.uint64(seed), kept, errors),
        )
        return result

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown()


def alias_table(weights: Any) -> tuple[Any, Any]:
    """Return the alias table of weights: 32-bit thresholds (V,) and aliases (V,) (Walker, 1977).

    A uniform word, replaced by its alias above its threshold, has exactly the distribution of the weights.
    """
    scaled = weights * (len(weights) / weights.sum())
    thresholds, aliases = np.ones(len(weights)), np.arange(len(weights), dtype=np.int32)
    small, large = (np.flatnonzero(side).tolist() for side in (scaled < 1, scaled >= 1))
    while small and large:
        low, high = small.pop(), large.pop()
        thresholds[low], aliases[low] = scaled[low], high
        scaled[high] -= 1 - scaled[low]
        (small if scaled[high] < 1 else large).append(high)
    return np.minimum(thresholds * 2.0**32, 2.0**32 - 1).astype(np.uint32), aliases

"""The books of a beam search: what runs, what is finished, and who may stop. All of it beside the model, in numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.decoding.constraints import Constraints
from regard.decoding.settings import length_penalty
from regard.decoding.stepper import Hypothesis

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass
class Sentence:
    """One source under way: how long its output may be, and its finished hypotheses, best first."""

    place: int
    limit: int
    finished: list[Hypothesis] = field(default_factory=list)

    def has_better(self, score: float, beams: int) -> bool:
        """Tell whether `beams` hypotheses have finished, all of them better than a score."""
        last = self.finished[-1] if len(self.finished) == beams else None
        return last is not None and last.is_finished and last.score >= score

    def finish(self, hypothesis: Hypothesis, beams: int) -> None:
        """Take a hypothesis in; only the best `beams` are kept, and one that was cut off is the last resort."""
        self.finished.append(hypothesis)
        self.finished.sort(key=lambda each: (not each.is_finished, -each.score))
        del self.finished[beams:]


@dataclass(frozen=True)
class Candidates:
    """The best continuations of each sentence (sentences, candidates), best first."""

    totals: Floats
    """Log probability, and repetition penalty where asked for, so far."""
    surprises: Floats
    """Log probability alone."""
    origins: Places
    """The hypothesis of the sentence that each goes on from."""
    tokens: Places
    coverage: Floats
    """The coverage penalty (sentences, hypotheses) of where they come from."""


@dataclass(frozen=True)
class Moves:
    """How it goes on: the sentences that stay, and for each the hypotheses that run on and what they say."""

    staying: Places  # (sentences that stay,)
    origins: Places  # (sentences that stay, beams)
    tokens: Places  # (sentences that stay, beams)
    has_left: bool
    """Whether some sentence is done."""


class Ledger:
    """The running hypotheses of all sentences that are not done, as arrays (sentences, hypotheses)."""

    def __init__(self, limits: Sequence[int], constraints: Constraints) -> None:
        self._sentences = [Sentence(place, limit) for place, limit in enumerate(limits)]
        self.alive = list(self._sentences)
        self.settings, self.end = constraints.settings, constraints.ends.end
        self.totals = np.zeros((len(limits), 1))  # one hypothesis each to begin with
        self.surprises = np.zeros((len(limits), 1))
        self.past: Places = np.zeros((len(limits), 1, 0), np.int64)  # (sentences, hypotheses, length)

    @property
    def finished(self) -> list[list[Hypothesis]]:
        """The finished hypotheses of every sentence, best first."""
        return [sentence.finished for sentence in self._sentences]

    def take(self, found: Candidates) -> Moves | None:
        """Hand out the candidates that end, let the best others run on, and let finished sentences go.

        Returns None when all are done.
        """
        beams = self.settings.beams
        is_end = found.tokens == self.end
        for row, rank in np.argwhere(is_end[:, :beams]):  # only those among the best `beams` count
            origin = found.origins[row, rank]
            total, surprise = found.totals[row, rank], found.surprises[row, rank]
            self._finish(row, self.past[row, origin], total, surprise, found.coverage[row, origin], True)
        running = is_end.argsort(axis=1, kind="stable")[:, :beams]  # the best that do not end
        rows = np.arange(len(self.alive))[:, None]
        origins, tokens = found.origins[rows, running], found.tokens[rows, running]
        self.past = np.concatenate((self.past[rows, origins], tokens[..., None]), axis=2)
        self.totals = np.where(is_end[rows, running], -np.inf, found.totals[rows, running])
        self.surprises = found.surprises[rows, running]
        return self._go_on(origins, tokens, found)

    def _finish(
        self, row: int, ids: Places, total: float, surprise: float, covered: float, is_finished: bool
    ) -> None:
        if total > -np.inf:
            score = float(total) / length_penalty(self.settings, len(ids) + is_finished) + float(covered)
            if not self.alive[row].has_better(score, self.settings.beams):
                found = Hypothesis(ids.tolist(), float(surprise), score, is_finished)
                self.alive[row].finish(found, self.settings.beams)

    def _go_on(self, origins: Places, tokens: Places, found: Candidates) -> Moves | None:
        """Keep the sentences that are not done; at its limit a sentence's running hypotheses are cut off."""
        best = self.totals.max(axis=1) / length_penalty(self.settings, self.past.shape[2])
        staying = [row for row, value in enumerate(best.tolist()) if not self._is_done(row, value)]
        has_left = len(staying) < len(self.alive)
        if has_left:
            for row in set(range(len(self.alive))) - set(staying):
                self._cut_off(row, found.coverage[row, origins[row]])
            self.alive = [self.alive[row] for row in staying]
            self.past, self.totals, self.surprises = self.past[staying], self.totals[staying], self.surprises[staying]
        return Moves(np.array(staying), origins[staying], tokens[staying], has_left) if staying else None

    def _cut_off(self, row: int, covered: Floats) -> None:
        """Fill up the finished hypotheses of a sentence with running ones, the best first."""
        for place, ids in enumerate(self.past[row]):
            if len(self.alive[row].finished) < self.settings.beams:
                total, surprise = self.totals[row, place], self.surprises[row, place]
                self._finish(row, ids, total, surprise, covered[place], is_finished=False)

    def _is_done(self, row: int, best_running: float) -> bool:
        # A running hypothesis may still cover everything, so no coverage penalty counts against it here.
        finished, beams = self.alive[row].finished, self.settings.beams
        has_enough = len(finished) == beams and best_running <= finished[-1].score
        return has_enough or self.past.shape[2] >= self.alive[row].limit or best_running == -np.inf

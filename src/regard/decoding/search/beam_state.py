"""The books of a beam search: what runs, what is finished, and who may stop. All of it beside the model, in numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import length_penalty
from regard.decoding.steppers.interface import Hypothesis

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass
class BeamSequence:
    """One source under way: how long its output may be, and its finished hypotheses, best first."""

    place: int
    limit: int
    finished: list[Hypothesis] = field(default_factory=list)

    def finish(self, hypothesis: Hypothesis, beam_size: int) -> None:
        """Take a hypothesis in; only the best `beams` are kept, and one that was cut off is the last resort."""
        self.finished.append(hypothesis)
        self.finished.sort(key=lambda each: (not each.is_finished, -each.score))
        del self.finished[beam_size:]


@dataclass(frozen=True)
class Candidates:
    """The best continuations of each sentence (sentences, candidates), best first."""

    totals: Floats
    """Log probability, and repetition penalty where asked for, so far."""
    log_probabilities: Floats
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


class BeamState:
    """The running hypotheses of all sentences that are not done, as arrays (sentences, hypotheses)."""

    def __init__(self, limits: Sequence[int], constraints: LogitsProcessor) -> None:
        self._sentences = [BeamSequence(place, limit) for place, limit in enumerate(limits)]
        self.alive = list(self._sentences)
        self.settings, self.eos_id = constraints.settings, constraints.ends.eos_id
        self.totals = np.zeros((len(limits), 1))  # one hypothesis each to begin with
        self.log_probabilities = np.zeros((len(limits), 1))
        self.past: Places = np.zeros((len(limits), 1, 0), np.int64)  # (sentences, hypotheses, length)
        self._limits = np.array(limits)
        # Of each sentence, the score that a hypothesis must beat to be kept: all `beams` places are taken.
        self._worst = np.full(len(limits), -np.inf)

    @property
    def finished(self) -> list[list[Hypothesis]]:
        """The finished hypotheses of every sentence, best first."""
        return [sentence.finished for sentence in self._sentences]

    def take(self, found: Candidates) -> Moves | None:
        """Hand out the candidates that end, let the best others run on, and let finished sentences go.

        Returns None when all are done.
        """
        beam_size = self.settings.beam_size
        is_end = found.tokens == self.eos_id
        if is_end.any():
            self._finish(found, *np.nonzero(is_end[:, :beam_size]))  # only those among the best `beams` count
            running = is_end.argsort(axis=1, kind="stable")[:, :beam_size]  # the best that do not end
            rows = np.arange(len(self.alive))[:, None]
            origins, tokens, totals = (each[rows, running] for each in (found.origins, found.tokens, found.totals))
            self.totals = np.where(is_end[rows, running], -np.inf, totals)
            self.log_probabilities = found.log_probabilities[rows, running]
        else:
            origins, tokens = found.origins[:, :beam_size], found.tokens[:, :beam_size]
            self.totals, self.log_probabilities = found.totals[:, :beam_size], found.log_probabilities[:, :beam_size]
        before = self.past[np.arange(len(self.alive))[:, None], origins]
        self.past = np.concatenate((before, tokens[..., None]), axis=2)
        return self._go_on(origins, tokens, found)

    def _finish(self, found: Candidates, rows: Places, ranks: Places) -> None:
        """Take in the candidates that end, those that are good enough."""
        origins, totals = found.origins[rows, ranks], found.totals[rows, ranks]
        length = self.past.shape[2] + 1  # with the end
        scores = totals / length_penalty(self.settings, length) + found.coverage[rows, origins]
        for place in np.flatnonzero((totals > -np.inf) & (scores > self._worst[rows])).tolist():
            row, score = int(rows[place]), float(scores[place])
            ids = self.past[row, origins[place]].tolist()
            surprise = float(found.log_probabilities[row, ranks[place]])
            self.alive[row].finish(Hypothesis(ids, surprise, score, True), self.settings.beam_size)
        for row in set(rows.tolist()):
            kept = self.alive[row].finished
            self._worst[row] = kept[-1].score if len(kept) == self.settings.beam_size else -np.inf

    def _go_on(self, origins: Places, tokens: Places, found: Candidates) -> Moves | None:
        """Keep the sentences that are not done; at its limit a sentence's running hypotheses are cut off."""
        length = self.past.shape[2]
        best = self.totals.max(axis=1) / length_penalty(self.settings, length)
        # A running hypothesis may still cover everything, so no coverage penalty counts against it here.
        is_done = (best <= self._worst) | (length >= self._limits)
        has_left = bool(is_done.any())
        staying = np.flatnonzero(~is_done)
        if has_left:
            for row in np.flatnonzero(is_done).tolist():
                self._cut_off(row, found.coverage[row, origins[row]])
            self.alive = [self.alive[row] for row in staying]
            self.past, self._limits, self._worst = self.past[staying], self._limits[staying], self._worst[staying]
            self.totals, self.log_probabilities = self.totals[staying], self.log_probabilities[staying]
            origins, tokens = origins[staying], tokens[staying]
        return Moves(staying, origins, tokens, has_left) if len(staying) else None

    def _cut_off(self, row: int, covered: Floats) -> None:
        """Fill up the finished hypotheses of a sentence with running ones, the best first."""
        sentence, length = self.alive[row], self.past.shape[2]
        for place, total in enumerate(self.totals[row].tolist()):
            if len(sentence.finished) < self.settings.beam_size and total > -np.inf:
                score = total / length_penalty(self.settings, length) + float(covered[place])
                ids, surprise = self.past[row, place].tolist(), float(self.log_probabilities[row, place])
                sentence.finish(Hypothesis(ids, surprise, score, False), self.settings.beam_size)

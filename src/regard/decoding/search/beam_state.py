"""Beam search state: active and finished hypotheses, and the stopping rule; on the host, in numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import length_penalty
from regard.decoding.steppers.interface import Hypothesis

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class BeamSequence:
    """One sentence of a search: its number in the batch, its length limit and its finished hypotheses, best first."""

    number: int
    limit: int
    finished: list[Hypothesis] = field(default_factory=list)

    def finish(self, hypothesis: Hypothesis, beam_size: int) -> None:
        """Insert a hypothesis; the best `beam_size` are kept, truncated ones ranked below all that ended with EOS."""
        self.finished.append(hypothesis)
        self.finished.sort(key=lambda each: (not each.is_finished, -each.score))
        del self.finished[beam_size:]


@dataclass(frozen=True)
class Candidates:
    """The best continuations of each sentence (sentences, candidates), best first."""

    totals: Floats
    """Log probability with repetition penalty."""
    log_probabilities: Floats
    """Log probability without penalties."""
    origins: Ints
    """The hypothesis of the sentence that each extends."""
    tokens: Ints
    coverage: Floats
    """The coverage penalty (sentences, hypotheses) of the extended hypotheses."""


@dataclass(frozen=True)
class Moves:
    """The next step: the sentences that stay, and for each the hypotheses that are extended and their new tokens."""

    staying: Ints  # (sentences that stay,)
    origins: Ints  # (sentences that stay, beam size)
    tokens: Ints  # (sentences that stay, beam size)
    has_left: bool
    """True if a sentence is done and leaves the batch."""


class BeamState:
    """The active hypotheses of all unfinished sentences, as arrays (sentences, hypotheses)."""

    def __init__(self, limits: Sequence[int], constraints: LogitsProcessor) -> None:
        self._sentences = [BeamSequence(number, limit) for number, limit in enumerate(limits)]
        self.alive = list(self._sentences)
        self.settings, self.eos_id = constraints.settings, constraints.ends.eos_id
        self.totals = np.zeros((len(limits), 1))  # a single hypothesis at first
        self.log_probabilities = np.zeros((len(limits), 1))
        self.past: Ints = np.zeros((len(limits), 1, 0), np.int64)  # (sentences, hypotheses, length)
        self._limits = np.array(limits)
        # For each sentence the score that a hypothesis must beat: the worst of `beam_size` finished ones, else -inf.
        self._worst = np.full(len(limits), -np.inf)

    @property
    def finished(self) -> list[list[Hypothesis]]:
        """The finished hypotheses of every sentence, best first."""
        return [sentence.finished for sentence in self._sentences]

    def advance(self, candidates: Candidates) -> Moves | None:
        """Finish the candidates that end, keep the best others, drop finished sentences; None when all are done."""
        beam_size = self.settings.beam_size
        is_end = candidates.tokens == self.eos_id
        if is_end.any():
            self._finish(candidates, *np.nonzero(is_end[:, :beam_size]))  # only those among the best `beam_size`
            active = is_end.argsort(axis=1, kind="stable")[:, :beam_size]  # the best that do not end
            rows = np.arange(len(self.alive))[:, None]
            arrays = candidates.origins, candidates.tokens, candidates.totals
            origins, tokens, totals = (each[rows, active] for each in arrays)
            self.totals = np.where(is_end[rows, active], -np.inf, totals)
            self.log_probabilities = candidates.log_probabilities[rows, active]
        else:
            origins, tokens = candidates.origins[:, :beam_size], candidates.tokens[:, :beam_size]
            self.totals = candidates.totals[:, :beam_size]
            self.log_probabilities = candidates.log_probabilities[:, :beam_size]
        before = self.past[np.arange(len(self.alive))[:, None], origins]
        self.past = np.concatenate((before, tokens[..., None]), axis=2)
        return self._moves(origins, tokens, candidates)

    def _finish(self, candidates: Candidates, rows: Ints, ranks: Ints) -> None:
        """Insert the candidates that end and beat their sentence's worst finished hypothesis."""
        origins, totals = candidates.origins[rows, ranks], candidates.totals[rows, ranks]
        length = self.past.shape[2] + 1  # with EOS
        scores = totals / length_penalty(self.settings, length) + candidates.coverage[rows, origins]
        for index in np.flatnonzero((totals > -np.inf) & (scores > self._worst[rows])).tolist():
            row, score = int(rows[index]), float(scores[index])
            ids = self.past[row, origins[index]].tolist()
            log_probability = float(candidates.log_probabilities[row, ranks[index]])
            self.alive[row].finish(Hypothesis(ids, log_probability, score, True), self.settings.beam_size)
        for row in set(rows.tolist()):
            kept = self.alive[row].finished
            self._worst[row] = kept[-1].score if len(kept) == self.settings.beam_size else -np.inf

    def _moves(self, origins: Ints, tokens: Ints, candidates: Candidates) -> Moves | None:
        """Drop finished sentences; at its length limit a sentence's active hypotheses are truncated."""
        length = self.past.shape[2]
        best = self.totals.max(axis=1) / length_penalty(self.settings, length)
        # An active hypothesis may still cover the whole source, so its coverage penalty is not applied here.
        is_done = (best <= self._worst) | (length >= self._limits)
        has_left = bool(is_done.any())
        staying = np.flatnonzero(~is_done)
        if has_left:
            for row in np.flatnonzero(is_done).tolist():
                self._truncate(row, candidates.coverage[row, origins[row]])
            self.alive = [self.alive[row] for row in staying]
            self.past, self._limits, self._worst = self.past[staying], self._limits[staying], self._worst[staying]
            self.totals, self.log_probabilities = self.totals[staying], self.log_probabilities[staying]
            origins, tokens = origins[staying], tokens[staying]
        return Moves(staying, origins, tokens, has_left) if len(staying) else None

    def _truncate(self, row: int, covered: Floats) -> None:
        """Fill up the finished hypotheses of a sentence with active ones, the best first."""
        sentence, length = self.alive[row], self.past.shape[2]
        for rank, total in enumerate(self.totals[row].tolist()):
            if len(sentence.finished) < self.settings.beam_size and total > -np.inf:
                score = total / length_penalty(self.settings, length) + float(covered[rank])
                ids, log_probability = self.past[row, rank].tolist(), float(self.log_probabilities[row, rank])
                sentence.finish(Hypothesis(ids, log_probability, score, False), self.settings.beam_size)

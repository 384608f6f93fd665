"""Beam search state: active and finished hypotheses, and the stopping rule; on the host, in numpy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from regard.decoding.logits.history import History
from regard.decoding.search.running import RunningRequest, without_gaps
from regard.decoding.settings import GenerationSettings, length_penalty
from regard.decoding.steppers.interface import Hypothesis, Request
from regard.text.detokenizer import first_stop

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    """The active hypotheses of all requests under way, as arrays (requests, beam size)."""

    def __init__(
        self,
        settings: GenerationSettings,
        eos_id: int,
        has_prompts: bool,
        text_of: Callable[[Request, list[int]], str] | None = None,
    ) -> None:
        self.settings, self.eos_id, self._text_of = settings, eos_id, text_of
        self.history = History(eos_id, has_prompts)  # requests * beam size rows
        self.alive: list[RunningRequest] = []
        self.totals = np.zeros((0, settings.beam_size))
        self.log_probabilities = np.zeros((0, settings.beam_size))
        self._limits = np.zeros(0, np.int64)
        # For each request the score that a hypothesis must beat: the worst of `beam_size` finished ones, else -inf.
        self._worst = np.zeros(0)
        self._penalties = [1.0]  # of a hypothesis of each length
        self._has_streams = False

    def admit(self, queue: Sequence[RunningRequest]) -> None:
        """Add requests; of their hypotheses only the first is active."""
        count, size = len(queue), self.settings.beam_size
        self.alive += queue
        self._has_streams |= any(each.detokenizer is not None for each in queue)
        self.history.admit([each.request for each in queue], count * size)
        first = np.zeros((count, size))
        first[:, 1:] = -np.inf
        self.totals = np.concatenate((self.totals, first))
        self.log_probabilities = np.concatenate((self.log_probabilities, np.zeros((count, size))))
        self._limits = np.concatenate((self._limits, [each.request.limit for each in queue]))
        self._worst = np.concatenate((self._worst, np.full(count, -np.inf)))

    def advance(self, candidates: Candidates) -> Moves | None:
        """Finish the candidates that end, keep the best others, drop finished requests; None when all are done."""
        size, numbers = self.settings.beam_size, np.arange(len(self.alive))[:, None]
        lengths = self.history.lengths[::size] + 1
        while len(self._penalties) <= lengths.max():
            self._penalties.append(length_penalty(self.settings, len(self._penalties)))
        penalties = np.array([self._penalties[length] for length in lengths.tolist()])
        is_end = candidates.tokens == self.eos_id
        before = self.log_probabilities
        if is_end.any():
            self._finish(candidates, penalties, *np.nonzero(is_end[:, :size]))  # only those among the best
            active = is_end.argsort(axis=1, kind="stable")[:, :size]  # the best that do not end
            arrays = candidates.origins, candidates.tokens, candidates.totals
            origins, tokens, totals = (each[numbers, active] for each in arrays)
            self.totals = np.where(is_end[numbers, active], -np.inf, totals)
            self.log_probabilities = candidates.log_probabilities[numbers, active]
        else:
            origins, tokens = candidates.origins[:, :size], candidates.tokens[:, :size]
            self.totals = candidates.totals[:, :size]
            self.log_probabilities = candidates.log_probabilities[:, :size]
        self.history.select((numbers * size + origins).ravel())
        with np.errstate(invalid="ignore"):  # of hypotheses that are not active
            values = self.log_probabilities - before[numbers, origins]
        self.history.append(tokens.ravel(), values.ravel())
        if self._text_of is not None:
            self._stop(self._text_of, penalties, candidates.coverage[numbers, origins])
        return self._moves(origins, tokens, penalties, lengths, candidates)

    def _finish(self, candidates: Candidates, penalties: Floats, rows: Ints, ranks: Ints) -> None:
        """Insert the candidates that end and beat their request's worst finished hypothesis."""
        origins, totals = candidates.origins[rows, ranks], candidates.totals[rows, ranks]
        scores = totals / penalties[rows] + candidates.coverage[rows, origins]
        for index in np.flatnonzero((totals > -np.inf) & (scores > self._worst[rows])).tolist():
            row, origin = int(rows[index]), int(origins[index])
            value = candidates.log_probabilities[row, ranks[index]] - self.log_probabilities[row, origin]
            past = row * self.settings.beam_size + origin
            values = [*self.history.log_probabilities(past), float(value)]
            self._insert(row, Hypothesis(self.history.ids(past), values, float(scores[index]), "eos"))

    def _insert(self, row: int, hypothesis: Hypothesis) -> None:
        """Insert a hypothesis; the best `beam_size` are kept, truncated ones ranked below all others."""
        finished = self.alive[row].hypotheses
        finished.append(hypothesis)
        finished.sort(key=lambda each: (each.finish_reason == "length", -each.score))
        del finished[self.settings.beam_size :]
        self._worst[row] = finished[-1].score if len(finished) == self.settings.beam_size else -np.inf

    def _active(self, row: int) -> list[tuple[int, int]]:
        """Return rank and row of history of the active hypotheses of a request, best first."""
        first = row * self.settings.beam_size
        return [(rank, first + rank) for rank, total in enumerate(self.totals[row].tolist()) if total > -np.inf]

    def _stop(self, text_of: Callable[[Request, list[int]], str], penalties: Floats, covered: Floats) -> None:
        """Finish the active hypotheses whose text has a stop string."""
        for row, running in enumerate(self.alive):
            for rank, past in self._active(row):
                ids = self.history.ids(past)
                if first_stop(text_of(running.request, ids), self.settings.stop) is not None:
                    score = float(self.totals[row, rank] / penalties[row] + covered[row, rank])
                    self._insert(row, Hypothesis(ids, self.history.log_probabilities(past), score, "stop"))
                    self.totals[row, rank] = -np.inf

    def _moves(
        self, origins: Ints, tokens: Ints, penalties: Floats, lengths: Ints, candidates: Candidates
    ) -> Moves | None:
        """Drop finished requests; at its length limit a request's active hypotheses are truncated."""
        best = self.totals.max(axis=1) / penalties
        # An active hypothesis may still cover the whole source, so its coverage penalty is not applied here.
        is_done = (best <= self._worst) | (lengths >= self._limits)
        has_left = bool(is_done.any())
        if has_left:
            for row in np.flatnonzero(is_done).tolist():
                self._truncate(row, penalties[row], candidates.coverage[row, origins[row]])
                self.alive[row].finish()
        staying = without_gaps(~is_done)
        if has_left:
            self.keep(staying)
            origins, tokens = origins[staying], tokens[staying]
        if self._has_streams:
            self._write()
        return Moves(staying, origins, tokens, has_left) if len(staying) else None

    def keep(self, staying: Ints) -> None:
        """Keep some requests only."""
        size = self.settings.beam_size
        self.alive = [self.alive[row] for row in staying]
        self.history.select((staying[:, None] * size + np.arange(size)).ravel(), staying.tolist())
        self._limits, self._worst = self._limits[staying], self._worst[staying]
        self.totals, self.log_probabilities = self.totals[staying], self.log_probabilities[staying]

    def _truncate(self, row: int, penalty: float, covered: Floats) -> None:
        """Fill up the finished hypotheses of a request with active ones, the best first."""
        for rank, past in self._active(row):
            if len(self.alive[row].hypotheses) < self.settings.beam_size:
                score = float(self.totals[row, rank] / penalty) + float(covered[rank])
                ids, values = self.history.ids(past), self.history.log_probabilities(past)
                self._insert(row, Hypothesis(ids, values, score, "length"))

    def _write(self) -> None:
        """Write the text that all hypotheses of a streamed request begin with."""
        for row, running in enumerate(self.alive):
            if running.detokenizer is not None:
                active = [self.history.ids(past) for _, past in self._active(row)]
                same = zip(*active, *(each.ids for each in running.hypotheses))  # as far as the shortest goes
                running.write([tokens[0] for tokens in takewhile(lambda tokens: len(set(tokens)) == 1, same)])

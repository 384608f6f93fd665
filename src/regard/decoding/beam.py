"""Beam search: several hypotheses for each sentence, all sentences of a batch at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.constraints import Constraints
from regard.decoding.coverage import Coverage
from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.stepper import Hypothesis, Stepper

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def beam_search(
    stepper: Stepper, limits: Sequence[int], constraints: Constraints, coverage: Coverage | None = None
) -> list[list[Hypothesis]]:
    """Return up to `beams` hypotheses of each sentence, best first; a sentence may take as many tokens as its limit.

    Hypotheses that end compete with those that run on. A sentence leaves the batch when no running hypothesis is
    better than its worst finished one, or at its own length limit: none depends on its neighbours.
    """
    sentences = [_Sentence(place, limit) for place, limit in enumerate(limits)]
    search = _Search(stepper, list(sentences), constraints, coverage)
    while search.alive:
        search.step()
    return [sentence.finished for sentence in sentences]


@dataclass
class _Sentence:
    """One source under way: how long its output may be, and its finished hypotheses, best first."""

    place: int
    limit: int
    finished: list[Hypothesis] = field(default_factory=list)

    def finish(self, hypothesis: Hypothesis, beams: int) -> None:
        """Take a hypothesis in; only the best `beams` are kept, and one that was cut off is the last resort."""
        self.finished.append(hypothesis)
        self.finished.sort(key=lambda each: (not each.is_finished, -each.score))
        del self.finished[beams:]


@dataclass(frozen=True)
class _Candidates:
    """The best continuations of each sentence (sentences, candidates), best first: one transfer from the device."""

    totals: Floats
    """Log probability, and repetition penalty where asked for, so far."""
    surprises: Floats
    """Log probability alone."""
    origins: Places
    """The hypothesis of the sentence that each goes on from."""
    tokens: Places
    coverage: Floats
    """The coverage penalty (sentences, hypotheses) of where they come from."""


class _Search:
    """The running hypotheses of all sentences that are not done, as arrays (sentences, hypotheses)."""

    def __init__(
        self, stepper: Stepper, sentences: list[_Sentence], constraints: Constraints, coverage: Coverage | None
    ) -> None:
        self.stepper, self.alive, self.constraints, self.coverage = stepper, sentences, constraints, coverage
        self.settings: DecodeSettings = constraints.settings
        self.device = constraints.device
        self.tokens = torch.full((len(sentences),), constraints.ends.start, device=self.device)  # (R,) said last
        self.totals = np.zeros((len(sentences), 1))  # one hypothesis each to begin with
        self.so_far = torch.zeros(len(sentences), 1, device=self.device)  # (R, 1) the same beside the model
        self.surprises = np.zeros((len(sentences), 1))
        self.past: Places = np.zeros((len(sentences), 1, 0), np.int64)  # (sentences, hypotheses, length)

    def step(self) -> None:
        """Extend every hypothesis by one token, hand out those that end, and let finished sentences go."""
        found = self._candidates()
        is_end = found.tokens == self.constraints.ends.end
        for row, rank in np.argwhere(is_end[:, : self.settings.beams]):  # only those among the best `beams` count
            origin = found.origins[row, rank]
            self._finish(
                row,
                self.past[row, origin],
                found.totals[row, rank],
                found.surprises[row, rank],
                found.coverage[row, origin],
                is_finished=True,
            )
        running = is_end.argsort(axis=1, kind="stable")[:, : self.settings.beams]  # the best that do not end
        rows = np.arange(len(self.alive))[:, None]
        origins, tokens = found.origins[rows, running], found.tokens[rows, running]
        self.past = np.concatenate((self.past[rows, origins], tokens[..., None]), axis=2)
        self.totals = np.where(is_end[rows, running], -np.inf, found.totals[rows, running])
        self.surprises = found.surprises[rows, running]
        self._go_on(origins, tokens, found)

    def _candidates(self) -> _Candidates:
        """Return the best continuations of each sentence.

        Twice as many as beams: each hypothesis has one way to end, so enough are left that go on.
        """
        sentences, hypotheses, length = self.past.shape
        log_p = self.stepper.step(self.tokens).log_softmax(-1)  # (R, V)
        size = log_p.size(1)
        owners = np.repeat([sentence.place for sentence in self.alive], hypotheses)
        allowed = self.constraints(log_p, self.past.reshape(sentences * hypotheses, length), owners)
        sums = allowed + self.so_far if self.constraints.changes_values else allowed.add_(self.so_far)
        sums = sums.view(sentences, -1)  # (sentences, hypotheses * V)
        totals, places = sums.topk(min(2 * self.settings.beams, sums.size(1)), dim=1)
        parts = [totals.double(), places.double()]
        if self.constraints.changes_values:
            parts.append(log_p.view(sentences, -1).gather(1, places).double())
        if self.coverage is not None:
            self.coverage.add_step()
            parts.append(self.coverage.penalty(self.settings.coverage_penalty).view(sentences, -1).double())
        together = torch.cat(parts, dim=1).cpu().numpy()  # the one place where the device is waited for
        count = places.size(1)
        places_found = together[:, count : 2 * count].astype(np.int64)
        origins = places_found // size
        surprises = together[:, :count]
        if self.constraints.changes_values:
            before = np.take_along_axis(self.surprises, origins, axis=1)
            surprises = before + together[:, 2 * count : 3 * count]
        covered = together[:, -hypotheses:] if self.coverage is not None else np.zeros((sentences, hypotheses))
        return _Candidates(together[:, :count], surprises, origins, places_found % size, covered)

    def _finish(
        self, row: int, ids: Places, total: float, surprise: float, covered: float, is_finished: bool
    ) -> None:
        if total > -np.inf:
            score = float(total) / length_penalty(self.settings, len(ids) + is_finished) + float(covered)
            found = Hypothesis(ids.tolist(), float(surprise), score, is_finished)
            self.alive[row].finish(found, self.settings.beams)

    def _go_on(self, origins: Places, tokens: Places, found: _Candidates) -> None:
        """Make the chosen continuations the running hypotheses of the sentences that are not done.

        At its limit a sentence's running hypotheses are cut off.
        """
        hypotheses = found.coverage.shape[1]
        best = self.totals.max(axis=1) / length_penalty(self.settings, self.past.shape[2])
        staying = [row for row, value in enumerate(best) if not self._is_done(row, float(value))]
        sentences: Tensor | None = None
        if len(staying) < len(self.alive):
            for row in set(range(len(self.alive))) - set(staying):
                self._cut_off(row, found.coverage[row, origins[row]])
            self.alive = [self.alive[row] for row in staying]
            self.past, self.totals, self.surprises = self.past[staying], self.totals[staying], self.surprises[staying]
            if not staying:
                return
            sentences = self._on_device(np.array(staying))
        rows = (np.array(staying)[:, None] * hypotheses + origins[staying]).reshape(-1)
        together = np.stack((rows, tokens[staying].reshape(-1), self.totals.reshape(-1)))  # one transfer, not three
        arrived = self._on_device(together)
        chosen, self.tokens = arrived[:2].long()
        self.so_far = arrived[2, :, None].float()
        self.stepper.reorder(chosen, sentences)
        if self.coverage is not None:
            self.coverage.reorder(chosen, sentences)

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

    def _on_device(self, values: Places | Floats) -> Tensor:
        return torch.from_numpy(values).to(self.device, non_blocking=True)

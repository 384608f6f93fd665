"""Beam search: several hypotheses for each sentence, all sentences of a batch at once."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamState, Candidates, Floats, Places
from regard.decoding.steppers.interface import Hypothesis, Stepper


def beam_search(
    stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor, coverage: Coverage | None = None
) -> list[list[Hypothesis]]:
    """Return up to `beams` hypotheses of each sentence, best first; a sentence may take as many tokens as its limit.

    Hypotheses that end compete with those that run on. A sentence leaves the batch when no running hypothesis is
    better than its worst finished one, or at its own length limit: none depends on its neighbors.
    """
    ledger = BeamState(limits, constraints)
    search = _Search(stepper, ledger, constraints, coverage)
    while ledger.alive:
        search.step()
    return ledger.finished


class _Search:
    """The running hypotheses beside the model, one step after the other."""

    def __init__(
        self, stepper: Stepper, ledger: BeamState, constraints: LogitsProcessor, coverage: Coverage | None
    ) -> None:
        self.stepper, self.ledger, self.constraints, self.coverage = stepper, ledger, constraints, coverage
        self.settings, self.device = constraints.settings, constraints.device
        sentences = len(ledger.alive)
        self.tokens = torch.full((sentences,), constraints.ends.bos_id, device=self.device)  # (R,) said last
        self.so_far = torch.zeros(sentences, 1, device=self.device)  # (R, 1) totals, beside the model

    def step(self) -> None:
        """Extend every hypothesis by one token, and go on with the best of the sentences that are not done."""
        found = self._candidates()
        hypotheses = found.coverage.shape[1]
        moves = self.ledger.take(found)
        if moves is None:
            return
        rows = (moves.staying[:, None] * hypotheses + moves.origins).reshape(-1)
        together = np.stack((rows, moves.tokens.reshape(-1), self.ledger.totals.reshape(-1)))  # one transfer
        arrived = self._on_device(together)
        chosen, self.tokens = arrived[:2].long()
        self.so_far = arrived[2, :, None].float()
        sentences = self._on_device(moves.staying) if moves.has_left else None
        self.stepper.reorder(chosen, sentences)
        if self.coverage is not None:
            self.coverage.reorder(chosen, sentences)

    def _candidates(self) -> Candidates:
        """Return the best continuations of each sentence.

        Twice as many as beams: each hypothesis has one way to end, so enough are left that go on.
        """
        past = self.ledger.past
        sentences, hypotheses, length = past.shape
        log_p = self.stepper.step(self.tokens).log_softmax(-1)  # (R, V)
        size = log_p.size(1)
        owners = np.repeat([sentence.place for sentence in self.ledger.alive], hypotheses)
        allowed = self.constraints(log_p, past.reshape(sentences * hypotheses, length), owners)
        sums = allowed + self.so_far if self.constraints.changes_values else allowed.add_(self.so_far)
        sums = sums.view(sentences, -1)  # (sentences, hypotheses * V)
        totals, places = sums.topk(min(2 * self.settings.beam_size, sums.size(1)), dim=1)
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
            before = np.take_along_axis(self.ledger.log_probabilities, origins, axis=1)
            surprises = before + together[:, 2 * count : 3 * count]
        covered = together[:, -hypotheses:] if self.coverage is not None else np.zeros((sentences, hypotheses))
        return Candidates(together[:, :count], surprises, origins, places_found % size, covered)

    def _on_device(self, values: Places | Floats) -> Tensor:
        return torch.from_numpy(values).to(self.device, non_blocking=True)

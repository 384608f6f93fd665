"""Beam search over a batch: several hypotheses of each sentence, extended token by token."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamState, Candidates, Floats, Ints
from regard.decoding.steppers.interface import Hypothesis, Stepper


def beam_search(
    stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor, coverage: Coverage | None = None
) -> list[list[Hypothesis]]:
    """Return up to `beam_size` hypotheses of each sentence, best first, of at most `limits` tokens each.

    Finished hypotheses compete with active ones. A sentence leaves the batch when no active hypothesis is better
    than its worst finished one, or at its own length limit, so that results do not depend on the rest of the batch.
    """
    state = BeamState(limits, constraints)
    search = _Search(stepper, state, constraints, coverage)
    while state.alive:
        search.step()
    return state.finished


class _Search:
    """The device's side of a search: model steps, candidates and their selection."""

    def __init__(
        self, stepper: Stepper, state: BeamState, constraints: LogitsProcessor, coverage: Coverage | None
    ) -> None:
        self.stepper, self.state, self.constraints, self.coverage = stepper, state, constraints, coverage
        self.settings, self.device = constraints.settings, constraints.device
        sentences = len(state.alive)
        self.tokens = torch.full((sentences,), constraints.ends.bos_id, device=self.device)  # (R,) the newest
        self.totals = torch.zeros(sentences, 1, device=self.device)  # (R, 1) log probabilities of hypotheses

    def step(self) -> None:
        """Extend every hypothesis by one token, and keep the best ones of unfinished sentences."""
        candidates = self._candidates()
        hypotheses = candidates.coverage.shape[1]
        moves = self.state.advance(candidates)
        if moves is None:
            return
        rows = (moves.staying[:, None] * hypotheses + moves.origins).reshape(-1)
        together = np.stack((rows, moves.tokens.reshape(-1), self.state.totals.reshape(-1)))  # one transfer
        arrived = self._on_device(together)
        chosen, self.tokens = arrived[:2].long()
        self.totals = arrived[2, :, None].float()
        sentences = self._on_device(moves.staying) if moves.has_left else None
        self.stepper.reorder(chosen, sentences)
        if self.coverage is not None:
            self.coverage.reorder(chosen, sentences)

    def _candidates(self) -> Candidates:
        """Return the best continuations of each sentence.

        Twice the beam size: at most one continuation of each hypothesis is EOS, so enough others are left.
        """
        past = self.state.past
        sentences, hypotheses, length = past.shape
        log_p = self.stepper.step(self.tokens).log_softmax(-1)  # (R, V)
        size = log_p.size(1)
        owners = np.repeat([sentence.number for sentence in self.state.alive], hypotheses)
        allowed = self.constraints(log_p, past.reshape(sentences * hypotheses, length), owners)
        sums = allowed + self.totals if self.constraints.changes_values else allowed.add_(self.totals)
        sums = sums.view(sentences, -1)  # (sentences, hypotheses * V)
        totals, indices = sums.topk(min(2 * self.settings.beam_size, sums.size(1)), dim=1)
        parts = [totals.double(), indices.double()]
        if self.constraints.changes_values:
            parts.append(log_p.view(sentences, -1).gather(1, indices).double())
        if self.coverage is not None:
            self.coverage.add_step()
            parts.append(self.coverage.penalty(self.settings.coverage_penalty).view(sentences, -1).double())
        together = torch.cat(parts, dim=1).cpu().numpy()  # the step's only device synchronization
        count = indices.size(1)
        flat = together[:, count : 2 * count].astype(np.int64)
        origins = flat // size
        log_probabilities = together[:, :count]
        if self.constraints.changes_values:
            before = np.take_along_axis(self.state.log_probabilities, origins, axis=1)
            log_probabilities = before + together[:, 2 * count : 3 * count]
        covered = together[:, -hypotheses:] if self.coverage is not None else np.zeros((sentences, hypotheses))
        return Candidates(together[:, :count], log_probabilities, origins, flat % size, covered)

    def _on_device(self, values: Ints | Floats) -> Tensor:
        return torch.from_numpy(values).to(self.device, non_blocking=True)

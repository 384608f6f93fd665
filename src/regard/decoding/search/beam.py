"""Beam search over a batch: several hypotheses of each request, extended token by token."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamState, Candidates, Floats, Ints
from regard.decoding.search.running import RunningRequest, log_probabilities, without_gaps
from regard.decoding.steppers.interface import Request, Stepper, padded


class BeamSearch:
    """The device's side of a search: model steps, candidates and their selection.

    Finished hypotheses compete with active ones. A request leaves the batch when no active hypothesis is better than
    its worst finished one, or at its own length limit, so that results do not depend on the rest of the batch.
    """

    state_class: ClassVar[type[BeamState]] = BeamState

    def __init__(
        self,
        build: Callable[[], Stepper],
        processor: LogitsProcessor,
        text_of: Callable[[Request, list[int]], str] | None = None,
        coverage: Callable[[], Coverage] | None = None,
    ) -> None:
        self._build, self._processor, self._text_of, self._new_coverage = build, processor, text_of, coverage
        self._settings, self._device = processor.settings, processor.device
        self._clear()

    def _clear(self) -> None:
        self._stepper: Stepper | None = None
        self._coverage = self._new_coverage() if self._new_coverage is not None else None
        self._state = self.state_class(self._settings, self._processor.ends.eos_id, False)
        self._tokens = torch.zeros(0, dtype=torch.long, device=self._device)  # (R,) the newest
        self._totals = torch.zeros(0, 1, device=self._device)  # (R, 1) log probabilities of hypotheses

    @property
    def is_idle(self) -> bool:
        """True where no request is under way."""
        return not self._state.alive

    def step(self, queue: Sequence[RunningRequest]) -> None:
        """Extend every hypothesis by one token, and keep the best ones of unfinished requests."""
        with nullcontext() if self._coverage is None else self._coverage.listening():
            scores = [] if self._stepper is None else [self._stepper.step(self._tokens)]
            if scores and self._coverage is not None:
                self._coverage.add_step()
            if queue:
                scores.append(self._admit(queue))
        candidates = self._candidates(log_probabilities(scores))
        moves = self._state.advance(candidates)
        if moves is None:
            self._clear()
            return
        size = self._settings.beam_size
        rows = (moves.staying[:, None] * size + moves.origins).reshape(-1)
        together = np.stack((rows, moves.tokens.reshape(-1), self._state.totals.reshape(-1)))  # one transfer
        arrived = self._on_device(together)
        chosen, self._tokens = arrived[:2].long()
        self._totals = arrived[2, :, None].float()
        self._reorder(chosen, self._on_device(moves.staying) if moves.has_left else None)

    def _reorder(self, rows: Tensor, requests: Tensor | None) -> None:
        assert self._stepper is not None, "requests come first"
        self._stepper.reorder(rows, requests)
        if self._coverage is not None:
            self._coverage.reorder(rows, requests)

    def _admit(self, queue: Sequence[RunningRequest]) -> Tensor:
        """Add the hypotheses of further requests, and return the scores (R, V) of their first tokens."""
        requests, size = [each.request for each in queue], self._settings.beam_size
        if self._stepper is None:
            self._stepper = self._build()
            eos_id, has_prompts = self._processor.ends.eos_id, self._stepper.has_prompts
            self._state = self.state_class(self._settings, eos_id, has_prompts, self._text_of)
        scores = self._stepper.admit(requests, size).repeat_interleave(size, 0)
        if self._coverage is not None:
            self._coverage.admit(padded(requests, 0, self._device, is_left=False)[1], size)
        first = torch.full((len(requests), size), -torch.inf, device=self._device)
        first[:, 0] = 0
        self._totals = torch.cat((self._totals, first.view(-1, 1)))
        self._state.admit(queue)
        return scores

    def cancel(self, running: RunningRequest) -> None:
        """Let the hypotheses of a request leave."""
        size, alive = self._settings.beam_size, self._state.alive
        staying = without_gaps(np.array([each is not running for each in alive], np.bool_))
        if not len(staying):
            self._clear()
            return
        rows = self._on_device((staying[:, None] * size + np.arange(size)).ravel())
        self._reorder(rows, self._on_device(staying))
        self._tokens, self._totals = self._tokens[rows], self._totals[rows]
        self._state.keep(staying)

    def _candidates(self, log_p: Tensor) -> Candidates:
        """Return the best continuations of each request for log probabilities (R, V).

        Twice the beam size: at most one continuation of each hypothesis is EOS, so enough others are left.
        """
        requests, size = len(self._state.alive), log_p.size(1)
        changes_values = self._processor.changes_values
        allowed = self._processor(log_p, self._state.history)
        sums = allowed + self._totals if changes_values else allowed.add_(self._totals)
        sums = sums.view(requests, -1)  # (requests, beam size * V)
        totals, indices = sums.topk(min(2 * self._settings.beam_size, sums.size(1)), dim=1)
        parts = [totals.double(), indices.double()]
        if changes_values:
            parts.append(log_p.view(requests, -1).gather(1, indices).double())
        if self._coverage is not None:
            parts.append(self._coverage.penalty().view(requests, -1).double())
        together = torch.cat(parts, dim=1).cpu().numpy()  # the step's only device synchronization
        count = indices.size(1)
        flat = together[:, count : 2 * count].astype(np.int64)
        origins = flat // size
        log_probabilities = together[:, :count]
        if changes_values:
            before = np.take_along_axis(self._state.log_probabilities, origins, axis=1)
            log_probabilities = before + together[:, 2 * count : 3 * count]
        covered = (
            together[:, -self._settings.beam_size :]
            if self._coverage is not None
            else np.zeros((requests, self._settings.beam_size))
        )
        return Candidates(together[:, :count], log_probabilities, origins, flat % size, covered)

    def _on_device(self, values: Ints | Floats) -> Tensor:
        return torch.from_numpy(values).to(self._device, non_blocking=True)

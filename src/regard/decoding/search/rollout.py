"""Greedy search and ancestral sampling: each row is extended by one token a step, until it ends."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.logits.history import History
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.search.running import (
    NO_NUMBERS,
    ListedToken,
    RunningRequest,
    log_probabilities,
    without_gaps,
)
from regard.decoding.settings import FinishReason, length_penalty
from regard.decoding.steppers.interface import Hypothesis, Request, Stepper
from regard.errors import CheckpointError
from regard.text.detokenizer import Detokenizer

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Rollout:
    """The rows of all requests, `num_samples` for each.

    The samples of a prompt share its cache while the prompt is longer than all of their new tokens together; finished
    ones then wait for others to leave, since requests that share have the same number of rows. Otherwise each row is
    a request of its own for the stepper.
    """

    def __init__(
        self,
        build: Callable[[], Stepper],
        processor: LogitsProcessor,
        writer: Callable[[Request], Detokenizer] | None = None,
    ) -> None:
        self._build, self._processor, self._writer = build, processor, writer
        self._settings, self._eos_id = processor.settings, processor.ends.eos_id
        self._sampler = TokenSampler(processor.settings)
        self._count = 1 if processor.settings.method == "beam" else processor.settings.num_samples
        self._clear()

    def _clear(self) -> None:
        self._stepper: Stepper | None = None
        self._history = History(self._eos_id, has_prompts=False)
        self._tokens = torch.zeros(0, dtype=torch.long, device=self._processor.device)  # (R,) the newest
        self._rows: list[RunningRequest] = []  # the request of each row
        self._writers: list[Detokenizer | None] = []  # of each row that is streamed or looks for stop strings
        self._facts = np.zeros((5, 0), np.int64)  # (5, R) line, sample, length limit, 1 if it is done, seed
        self._totals = np.zeros(0)  # (R,) log probabilities with penalties
        self._hypotheses = 1  # rows of each request that share a cache

    @property
    def is_idle(self) -> bool:
        """True where no request is under way."""
        return not self._rows

    def step(self, queue: Sequence[RunningRequest]) -> None:
        """Generate one token of every row, those of further requests included."""
        if queue and self._hypotheses > 1:
            self._separate()
        scores = [] if self._stepper is None else [self._stepper.step(self._tokens)]
        if queue:
            scores.append(self._admit(queue))
        log_p = log_probabilities(scores)  # (R, V)
        allowed = self._processor(log_p, self._history)
        lines, samples, limits, _, seeds = self._facts
        self._tokens = self._sampler(allowed, lines, samples, self._history.lengths, seeds)
        column = self._tokens[:, None]
        parts = [column, log_p.gather(1, column), *([] if allowed is log_p else [allowed.gather(1, column)])]
        # The only device synchronization: tokens, their log probabilities, and those with penalties.
        arrived = torch.cat([each.double() for each in parts], 1).cpu().numpy()
        chosen, values = arrived[:, 0].astype(np.int64), arrived[:, 1]
        if np.isnan(values).any():
            raise CheckpointError(NO_NUMBERS)
        if any(each.request.alternatives for each in self._rows):
            self._list(log_p, chosen, values)
        self._totals += arrived[:, -1]
        self._history.append(chosen, values)
        is_end = chosen == self._eos_id
        is_full = self._history.lengths >= limits
        is_stopped = self._write(chosen, is_end)
        self._finish(is_end, is_stopped, is_full)

    def _admit(self, queue: Sequence[RunningRequest]) -> Tensor:
        """Add the rows of further requests, and return the scores (R, V) of their first tokens."""
        requests, count = [each.request for each in queue], self._count
        is_shared = False
        if self._stepper is None:
            self._stepper = self._build()
            self._history = History(self._eos_id, self._stepper.has_prompts)
            is_shared = count > 1 and self._stepper.has_prompts
        if is_shared:
            is_shared = count * max(each.limit for each in requests) <= min(len(each.ids) for each in requests)
        scores = self._stepper.admit(requests, count, is_shared)
        self._hypotheses = count if is_shared else 1
        each_row = [running for running in queue for _ in range(count)]
        self._rows += each_row
        self._history.admit([each.request for each in each_row], len(each_row))
        self._writers += [
            each.detokenizer or (None if self._writer is None else self._writer(each.request)) for each in each_row
        ]
        facts = [
            [request.line, sample, request.limit, 0, self._settings.seed if request.seed is None else request.seed]
            for request in requests
            for sample in range(count)
        ]
        self._facts = np.concatenate((self._facts, np.array(facts, np.int64).T), axis=1)
        self._totals = np.concatenate((self._totals, np.zeros(len(each_row))))
        return scores.repeat_interleave(count, 0) if count > 1 else scores

    def _list(self, log_p: Tensor, chosen: Ints, values: Floats) -> None:
        """Add the newest token to requests that list alternatives, with the most probable ones."""
        best = log_p.topk(min(max(each.request.alternatives for each in self._rows), log_p.size(1)))
        tops = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        for row, (running, (ids, logs)) in enumerate(zip(self._rows, tops, strict=True)):
            if count := running.request.alternatives:
                listed = tuple(zip(ids, logs, strict=True))[:count]
                running.tokens.append(ListedToken(int(chosen[row]), float(values[row]), listed))

    def _write(self, chosen: Ints, is_end: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Write the newest tokens, and return True for rows whose text has a stop string."""
        is_stopped = np.zeros_like(is_end)
        for row, writer in enumerate(self._writers):
            if writer is None or is_end[row] or self._facts[3, row]:
                continue
            if writer is self._rows[row].detokenizer:
                self._rows[row].write(self._history.ids(row))
            else:
                writer.write(int(chosen[row]))
            is_stopped[row] = writer.is_stopped
        return is_stopped

    def _finish(self, is_end: NDArray[np.bool_], is_stopped: NDArray[np.bool_], is_full: NDArray[np.bool_]) -> None:
        """Add the hypotheses of rows that end, and let them leave."""
        is_done = (is_end | is_stopped | is_full) & (self._facts[3] == 0)
        if not is_done.any():
            return
        for row in np.flatnonzero(is_done).tolist():
            reason: FinishReason = "eos" if is_end[row] else "stop" if is_stopped[row] else "length"
            ids, values = self._history.ids(row), self._history.log_probabilities(row)
            score = float(self._totals[row]) / length_penalty(self._settings, len(ids))
            running = self._rows[row]
            running.samples[int(self._facts[1, row])] = Hypothesis(
                ids[:-1] if is_end[row] else ids, values, score, reason
            )
            if len(running.samples) == self._count:
                running.hypotheses = [running.samples[sample] for sample in range(self._count)]
                running.finish()
        self._facts[3] |= is_done
        self._drop()

    def cancel(self, running: RunningRequest) -> None:
        """Let the rows of a request leave."""
        self._facts[3] |= np.array([each is running for each in self._rows], np.int64)
        self._drop()

    def _drop(self) -> None:
        """Drop finished requests, and finished rows as far as all requests keep the same number of them."""
        is_done = self._facts[3] == 1
        if is_done.all():
            self._clear()
            return
        by_request = is_done.reshape(-1, self._hypotheses)
        staying = without_gaps(~by_request.all(1))
        kept = int((~by_request).sum(1).max())
        order = by_request[staying].argsort(axis=1, kind="stable")[:, :kept]  # running rows first
        rows = (staying[:, None] * self._hypotheses + order).ravel()
        if len(rows) < len(is_done):
            self._select(rows, staying if len(staying) < len(by_request) else None)
            self._hypotheses = kept

    def _separate(self) -> None:
        """Make each row a request of its own for the stepper, without those that are done."""
        rows = np.flatnonzero(self._facts[3] == 0)
        self._select(rows, rows // self._hypotheses)
        self._hypotheses = 1

    def _select(self, rows: Ints, requests: Ints | None) -> None:
        on_device = torch.from_numpy(rows).to(self._processor.device)
        texts = None if requests is None else torch.from_numpy(requests).to(self._processor.device)
        assert self._stepper is not None, "there are rows"
        self._stepper.reorder(on_device, texts)
        self._tokens = self._tokens[on_device]
        self._history.select(rows, rows.tolist())
        self._rows = [self._rows[row] for row in rows]
        self._writers = [self._writers[row] for row in rows]
        self._facts, self._totals = self._facts[:, rows], self._totals[rows]

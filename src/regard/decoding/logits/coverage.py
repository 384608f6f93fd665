"""Coverage penalty (Wu et al., 2016, eq. 14): attention probes sum up the cross-attention of every source token."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.base.joining import joined
from regard.nn.probes.probe import Listener, Probe, listening, probes

MIN_COVERAGE = 1e-9
"""Keeps the logarithm finite where a token got no attention."""


class Coverage:
    """The sum over steps of the cross-attention (R, S) of every hypothesis: the mean of all heads and layers."""

    def __init__(self, models: Sequence[Any], weight: float) -> None:
        self.weight = weight
        self.watched = [
            probe for model in models for name, probe in probes(model).items() if name.endswith(".cross.weights")
        ]
        if not self.watched:
            raise ConfigError(
                "coverage_penalty: this model has no cross-attention, so its coverage is undefined; omit it."
            )
        self.token_mask = torch.zeros(0)  # (B, S)
        self.total = torch.zeros(0)  # (R, S)
        self._step: list[Tensor] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Collect every cross-attention while the context is open."""
        listeners: dict[Probe, Listener] = dict.fromkeys(self.watched, self._collect)
        with listening(listeners):
            yield

    def _collect(self, weights: Tensor) -> None:
        self._step.append(weights.mean(1).flatten(0, 1))  # (B, H, hypotheses, S) to (R, S)

    def admit(self, token_mask: Tensor, hypotheses: int) -> None:
        """Add sources (B, S), of which the attention of the first step has been collected, some rows for each."""
        total = torch.stack(self._step).mean(0).repeat_interleave(hypotheses, 0)
        is_first = not self.total.numel()
        self.total = total if is_first else joined(self.total, total)
        self.token_mask = token_mask if is_first else joined(self.token_mask, token_mask)
        self._step = []

    def add_step(self) -> None:
        """Add the attention weights collected since the last step."""
        self.total = self.total + torch.stack(self._step).mean(0)
        self._step = []

    def penalty(self) -> Tensor:
        """Return the penalty (R,): the weight times the sum of log min(coverage, 1) over the source."""
        log_coverage = (
            self.total.clamp(MIN_COVERAGE, 1).log().unflatten(0, (self.token_mask.size(0), -1))
        )  # (B, hypotheses, S)
        return self.weight * log_coverage.masked_fill(~self.token_mask[:, None], 0).sum(-1).flatten()

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Select rows of hypotheses, and of sentences where some have left."""
        self.total = self.total.index_select(0, hypotheses)
        if sentences is not None:
            self.token_mask = self.token_mask.index_select(0, sentences)

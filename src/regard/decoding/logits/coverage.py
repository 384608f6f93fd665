"""How much attention each source token has got so far (Wu et al., 2016, eq. 14); costs nothing unless asked for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.nn.probes.probe import Listener, Probe, listening, probes

FAINTEST = 1e-9
"""Keeps the logarithm of no attention at all finite."""


class Coverage:
    """The sum over steps of the cross-attention (R, S) of every hypothesis: the mean of all heads and layers."""

    def __init__(self, models: Sequence[Any], token_mask: Tensor) -> None:
        self.listened = [
            probe for model in models for name, probe in probes(model).items() if name.endswith(".cross.weights")
        ]
        if not self.listened:
            raise ConfigError(
                "coverage_penalty: this model has no cross-attention to measure coverage by; leave it out."
            )
        self.token_mask = token_mask  # (B, S)
        self.total = torch.zeros(token_mask.shape, device=token_mask.device)  # (R, S)
        self._step: list[Tensor] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear every cross-attention for the length of a block."""
        listeners: dict[Probe, Listener] = dict.fromkeys(self.listened, self._hear)
        with listening(listeners):
            yield

    def _hear(self, weights: Tensor) -> None:
        self._step.append(weights.mean(1).flatten(0, 1))  # (B, H, hypotheses, S) to (R, S)

    def add_step(self) -> None:
        """Count the attention that was heard since the last step."""
        self.total = self.total + torch.stack(self._step).mean(0)
        self._step = []

    def penalty(self, weight: float) -> Tensor:
        """Return the penalty (R,): the weight times the sum of log min(coverage, 1) over the source."""
        share = self.total.clamp(FAINTEST, 1).log().unflatten(0, (self.token_mask.size(0), -1))  # (B, hypotheses, S)
        return weight * share.masked_fill(~self.token_mask[:, None], 0).sum(-1).flatten()

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Go on with these rows."""
        self.total = self.total.index_select(0, hypotheses)
        if sentences is not None:
            self.token_mask = self.token_mask.index_select(0, sentences)

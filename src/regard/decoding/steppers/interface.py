"""Stepper interface: a batch of requests that any model continues together, one token a step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from regard.decoding.settings import FinishReason
from regard.text.prefix import Prefix


@dataclass(frozen=True)
class Hypothesis:
    """A generated output: its ids without BOS and EOS, and the score it is ranked by."""

    ids: list[int]
    token_log_probabilities: list[float]
    """Log probability of each token under the model, EOS included, without penalties, filters and constraints."""
    score: float
    """The log probability with all penalties."""
    finish_reason: FinishReason

    @property
    def log_probability(self) -> float:
        """The sum over all tokens, EOS included."""
        return math.fsum(self.token_log_probabilities)


@dataclass(frozen=True)
class SpecialTokens:
    """The ids of BOS and EOS, and those that are never generated."""

    bos_id: int
    eos_id: int
    never: tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """One input: a source or a prompt."""

    ids: Sequence[int]
    """Its tokens, at least one."""
    limit: int
    """Maximum number of new tokens, EOS included."""
    line: int = 1
    """The row number, which seeds sampling."""
    prefix: Prefix | None = None
    """A forced beginning of the output."""
    text: str = ""
    """The text of a prompt, which that of the output follows."""
    seed: int | None = None
    """Its own seed of sampling (default: that of the settings)."""
    alternatives: int = 0
    """Most probable tokens to list at each token of a rollout with one sample."""


class Stepper(Protocol):
    """A batch that is being generated, with the same number of rows for each request; rows are ordered by request."""

    has_prompts: bool
    """True where a request and its output are one sequence."""

    def admit(self, requests: Sequence[Request], hypotheses: int = 1, is_shared: bool = True) -> Tensor:
        """Add requests after those of the batch, and return the next-token scores (B, V) at the start of each output.

        Each gets some rows: of one cache, or requests of their own (see `reorder`).
        """

    def step(self, tokens: Tensor) -> Tensor:
        """Return next-token scores (R, V) after tokens (R,): log probabilities up to a constant for each row."""

    def reorder(self, rows: Tensor, requests: Tensor | None = None) -> None:
        """Select rows, in this order; `requests` are those that stay, which may repeat (default: all)."""


def padded(requests: Sequence[Request], padding: int, device: torch.device, is_left: bool) -> tuple[Tensor, Tensor]:
    """Return the tokens (B, S) of requests, and a mask that is False at padding, before them or after."""
    longest = max(len(request.ids) for request in requests)
    tokens = np.full((len(requests), longest), padding, np.int64)
    lengths = np.array([len(request.ids) for request in requests])[:, None]
    token_mask = np.arange(longest) >= longest - lengths if is_left else np.arange(longest) < lengths
    for row, request in enumerate(requests):
        tokens[row, token_mask[row]] = request.ids
    return torch.from_numpy(tokens).to(device), torch.from_numpy(token_mask).to(device)


def mean_log_probability(logits: Sequence[Tensor]) -> Tensor:
    """Return the log of the mean probability (..., V) over several models' logits (..., V)."""
    log_p = [each.log_softmax(-1) for each in logits]
    if len(log_p) == 1:
        return log_p[0]
    return torch.stack(log_p).logsumexp(0) - torch.tensor(float(len(log_p))).log()

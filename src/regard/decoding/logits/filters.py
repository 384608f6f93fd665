"""Logits filters: pure functions on log probabilities (R, V) that set suppressed tokens to -inf."""

import math

import torch
from torch import Tensor

from regard.decoding.settings import GenerationSettings


def allow_only(log_p: Tensor, tokens: Tensor) -> Tensor:
    """Return the log probabilities (..., V) with all tokens but these (N,) set to -inf."""
    kept = torch.full_like(log_p, -torch.inf)
    kept[..., tokens] = log_p[..., tokens]
    return kept


def penalize_repetition(log_p: Tensor, past: Tensor, penalty: float) -> Tensor:
    """Return the log probabilities with those of past tokens (R, L) multiplied by a penalty.

    Keskar et al. (2019, §4.1) divide logits; a log probability is never positive, so that the factor always lowers
    it, in an ensemble too.
    """
    return log_p.scatter(1, past, log_p.gather(1, past) * penalty)


def forbid_repeated_ngrams(log_p: Tensor, past: Tensor, size: int) -> Tensor:
    """Return the log probabilities without the tokens that would repeat an n-gram of the past (R, L)."""
    if past.size(1) < size:
        return log_p
    ngrams = past.unfold(1, size, 1)  # (R, L - size + 1, size)
    latest = past[:, past.size(1) - size + 1 :]  # (R, size - 1): the n-gram that the next token completes
    is_repeated = (ngrams[..., :-1] == latest[:, None]).all(-1)
    bans = torch.zeros_like(is_repeated, dtype=log_p.dtype).masked_fill_(is_repeated, -torch.inf)
    return log_p.scatter_add(1, ngrams[..., -1], bans)


def keep_top_k(log_p: Tensor, count: int) -> Tensor:
    """Return the log probabilities of the `count` most probable tokens of each row, and of ties with the last."""
    if count >= log_p.size(1):
        return log_p
    threshold = log_p.topk(count, dim=1).values[:, -1:]
    return log_p.masked_fill(log_p < threshold, -torch.inf)


def keep_top_p(log_p: Tensor, p: float) -> Tensor:
    """Return the log probabilities of the fewest tokens with total probability p (Holtzman et al., 2020).

    Probabilities are normalized over the tokens that the row still allows; the most probable one always stays.
    """
    ordered, indices = log_p.softmax(1).sort(dim=1, descending=True, stable=True)
    before = ordered.double().cumsum(1) - ordered  # the probability of more probable tokens
    is_kept = (before < p).scatter(1, indices, before < p)
    return log_p.masked_fill(~is_kept, -torch.inf)


def keep_min_p(log_p: Tensor, fraction: float) -> Tensor:
    """Return the log probabilities of tokens with at least this fraction of the highest probability of a row."""
    threshold = log_p.amax(1, keepdim=True) + math.log(fraction)
    return log_p.masked_fill(log_p < threshold, -torch.inf)


def warp_logits(log_p: Tensor, settings: GenerationSettings) -> Tensor:
    """Return the unnormalized log probabilities (R, V) to sample from: temperature, top-k, top-p, then min-p."""
    if settings.temperature != 1:
        log_p = log_p / settings.temperature
    if settings.top_k is not None:
        log_p = keep_top_k(log_p, settings.top_k)
    if settings.top_p is not None:
        log_p = keep_top_p(log_p, settings.top_p)
    return log_p if settings.min_p is None else keep_min_p(log_p, settings.min_p)

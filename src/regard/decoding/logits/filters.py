"""Pure functions from log probabilities (R, V) to log probabilities: what may not be said becomes -inf."""

import math

import torch
from torch import Tensor


def allow_only(log_p: Tensor, tokens: Tensor) -> Tensor:
    """Return the log probabilities (..., V) of some tokens (N,) only."""
    kept = torch.full_like(log_p, -torch.inf)
    kept[..., tokens] = log_p[..., tokens]
    return kept


def penalise_repetition(log_p: Tensor, past: Tensor, penalty: float) -> Tensor:
    """Return the log probabilities with those of tokens said before (R, L) multiplied by a penalty.

    Keskar et al. (2019, §4.1) divide logits; a log probability is never positive, so it means the same for every
    token, and for an ensemble too.
    """
    return log_p.scatter(1, past, log_p.gather(1, past) * penalty)


def forbid_repeated_ngrams(log_p: Tensor, past: Tensor, size: int) -> Tensor:
    """Return the log probabilities without the tokens that would repeat an n-gram of the past (R, L)."""
    if past.size(1) < size:
        return log_p
    ngrams = past.unfold(1, size, 1)  # (R, L - size + 1, size)
    latest = past[:, past.size(1) - size + 1 :]  # (R, size - 1): what the next token would complete
    is_again = (ngrams[..., :-1] == latest[:, None]).all(-1)
    bans = torch.zeros_like(is_again, dtype=log_p.dtype).masked_fill_(is_again, -torch.inf)
    return log_p.scatter_add(1, ngrams[..., -1], bans)


def keep_top_k(log_p: Tensor, count: int) -> Tensor:
    """Return the log probabilities of the `count` most probable tokens of each row; ties at the border stay."""
    if count >= log_p.size(1):
        return log_p
    border = log_p.topk(count, dim=1).values[:, -1:]
    return log_p.masked_fill(log_p < border, -torch.inf)


def keep_top_p(log_p: Tensor, share: float) -> Tensor:
    """Return the log probabilities of the fewest most probable tokens that hold a share (Holtzman et al., 2020).

    The share is that of what the row still allows; the most probable token always stays.
    """
    ordered, places = log_p.softmax(1).sort(dim=1, descending=True, stable=True)
    before = ordered.double().cumsum(1) - ordered  # what more probable tokens hold already
    is_kept = (before < share).scatter(1, places, before < share)
    return log_p.masked_fill(~is_kept, -torch.inf)


def keep_min_p(log_p: Tensor, share: float) -> Tensor:
    """Return the log probabilities of tokens at least so probable as this share of the most probable one's."""
    border = log_p.amax(1, keepdim=True) + math.log(share)
    return log_p.masked_fill(log_p < border, -torch.inf)

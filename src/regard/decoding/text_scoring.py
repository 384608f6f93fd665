"""Scoring of given texts by a causal language model: log probabilities of tokens and of the top alternatives."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.decoding.scoring import LOGITS_AT_ONCE
from regard.models.base.protocols import CausalLM


@dataclass(frozen=True)
class TokenScores:
    """The log probability of each of N labels, and the most probable tokens at its position, best first."""

    log_probabilities: Tensor  # (N,)
    best: Tensor  # (N, count) ids
    best_log_probabilities: Tensor  # (N, count)


@torch.inference_mode()
def label_scores(model: CausalLM, tokens: Tensor, positions: Tensor, labels: Tensor, count: int = 0) -> TokenScores:
    """Return the scores of labels (N,) that follow some positions (N,) of the flattened tokens (B, T).

    Padding after a row's last position has no effect: the model is causal.
    """
    hidden = model.hidden_states(tokens).flatten(0, 1).index_select(0, positions)  # (N, D)
    vocabulary = model.head.weight.size(0)
    chunk = max(1, LOGITS_AT_ONCE // vocabulary)
    chunks: list[tuple[Tensor, ...]] = []
    for begin in range(0, len(positions), chunk):
        log_p = model.project(hidden[begin : begin + chunk]).float().log_softmax(-1)
        best = log_p.topk(min(count, vocabulary), dim=1)
        chunks.append((log_p.gather(1, labels[begin : begin + chunk, None])[:, 0], best.indices, best.values))
    values, ids, best_values = (torch.cat(each) for each in zip(*chunks, strict=True))
    return TokenScores(values, ids, best_values)

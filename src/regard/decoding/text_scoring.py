"""What a language model makes of a given text: the probability of each token, and which others it thought of."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.decoding.scoring import LOGITS_AT_ONCE
from regard.models.base.protocols import CausalLM


@dataclass(frozen=True)
class TokenScores:
    """The log probability of each of N labels, and the most probable tokens in their places, best first."""

    log_probabilities: Tensor  # (N,)
    best: Tensor  # (N, count) ids
    best_log_probabilities: Tensor  # (N, count)


@torch.inference_mode()
def label_scores(model: CausalLM, tokens: Tensor, places: Tensor, labels: Tensor, count: int = 0) -> TokenScores:
    """Return what the model gives labels (N,) behind some places (N,) of all in tokens (B, T), laid end to end.

    Rows may have anything behind their last place: nobody looks ahead.
    """
    hidden = model.hidden_states(tokens).flatten(0, 1).index_select(0, places)  # (N, D)
    vocabulary = model.head.weight.size(0)
    chunk = max(1, LOGITS_AT_ONCE // vocabulary)
    found: list[tuple[Tensor, ...]] = []
    for begin in range(0, len(places), chunk):
        log_p = model.project(hidden[begin : begin + chunk]).float().log_softmax(-1)
        best = log_p.topk(min(count, vocabulary), dim=1)
        found.append((log_p.gather(1, labels[begin : begin + chunk, None])[:, 0], best.indices, best.values))
    values, ids, best_values = (torch.cat(each) for each in zip(*found, strict=True))
    return TokenScores(values, ids, best_values)

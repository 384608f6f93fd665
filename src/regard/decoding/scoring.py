"""Scoring of given targets and texts: log probabilities under teacher forcing."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.data.encoding.batches import TranslationBatch
from regard.decoding.steppers.interface import mean_log_probability
from regard.models.base.protocols import CausalLM, Seq2Seq

LOGITS_AT_ONCE = 2**22
"""Logits computed at a time: positions times vocabulary."""


@torch.inference_mode()
def target_log_probabilities(models: Sequence[Seq2Seq], batch: TranslationBatch) -> Tensor:
    """Return the log probability (N,) of every label of a batch; an ensemble averages probabilities."""
    positions = batch.label_positions
    hidden = [
        model.decode(batch.target, model.encode(batch.source, batch.source_mask))
        .flatten(0, 1)
        .index_select(0, positions)
        for model in models
    ]
    chunk = max(1, LOGITS_AT_ONCE // models[0].head.weight.size(0))
    chunks = [
        log_probabilities(models, [each[begin : begin + chunk] for each in hidden])
        .gather(1, batch.labels[begin : begin + chunk, None])
        .squeeze(1)
        for begin in range(0, len(positions), chunk)
    ]
    return torch.cat(chunks)


@torch.inference_mode()
def next_log_probabilities(models: Sequence[Seq2Seq], source: Tensor, target: Tensor) -> Tensor:
    """Return the next-token log probabilities (V,) after a target prefix (T,), BOS included, of a source (S,)."""
    token_mask = torch.ones_like(source, dtype=torch.bool)
    hidden = [model.decode(target[None], model.encode(source[None], token_mask[None]))[0, -1:] for model in models]
    return log_probabilities(models, hidden)[0]


def log_probabilities(models: Sequence[Seq2Seq], hidden: Sequence[Tensor]) -> Tensor:
    """Return the ensemble's log probabilities (..., V) from each model's hidden states (..., D)."""
    return mean_log_probability([model.project(each).float() for model, each in zip(models, hidden, strict=True)])


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

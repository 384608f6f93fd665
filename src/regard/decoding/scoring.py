"""Scoring of given targets: log probabilities under teacher forcing."""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.data.encoding.batches import TranslationBatch
from regard.decoding.steppers.interface import mean_log_probability
from regard.models.base.protocols import Seq2Seq

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

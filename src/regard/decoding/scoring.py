"""What a model makes of a given target: log probabilities under teacher forcing."""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.data.encoding.batches import TranslationBatch
from regard.decoding.steppers.interface import mean_log_probability
from regard.models.base.protocols import Seq2Seq

LOGITS_AT_ONCE = 2**22


@torch.inference_mode()
def target_log_probabilities(models: Sequence[Seq2Seq], batch: TranslationBatch) -> Tensor:
    """Return the log probability (N,) of every label of a batch; several models give the mean of probabilities."""
    places = batch.label_positions
    hidden = [
        model.decode(batch.target, model.encode(batch.source, batch.source_mask))
        .flatten(0, 1)
        .index_select(0, places)
        for model in models
    ]
    chunk = max(1, LOGITS_AT_ONCE // models[0].head.weight.size(0))
    found = [
        log_probabilities(models, [each[begin : begin + chunk] for each in hidden])
        .gather(1, batch.labels[begin : begin + chunk, None])
        .squeeze(1)
        for begin in range(0, len(places), chunk)
    ]
    return torch.cat(found)


@torch.inference_mode()
def next_log_probabilities(models: Sequence[Seq2Seq], source: Tensor, target: Tensor) -> Tensor:
    """Return the log probabilities (V,) of what follows one target (T,), start token included, of one source (S,)."""
    token_mask = torch.ones_like(source, dtype=torch.bool)
    hidden = [model.decode(target[None], model.encode(source[None], token_mask[None]))[0, -1:] for model in models]
    return log_probabilities(models, hidden)[0]


def log_probabilities(models: Sequence[Seq2Seq], hidden: Sequence[Tensor]) -> Tensor:
    """Return log probabilities (..., V) of each model's own hidden states (..., D)."""
    return mean_log_probability([model.project(each).float() for model, each in zip(models, hidden, strict=True)])

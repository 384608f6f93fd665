"""The objective of fine-tuning: the task loss, and for language models an auxiliary next-token loss."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.labeled import HeadBatch
from regard.models.heads import ModelWithHead
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart

Losses = Callable[[Tensor, Tensor], Tensor]
"""A task's losses of outputs and labels: one a row, or their sum."""


def label_losses(scores: Tensor, labels: Tensor, class_weights: Tensor | None = None) -> Tensor:
    """Return the cross-entropy of labels, tags or choices, weighted by label where there are weights."""
    return F.cross_entropy(scores, labels, weight=class_weights, ignore_index=NO_LABEL, reduction="sum")


def balanced_weights(labels: Tensor, classes: int) -> Tensor:
    """Return weights of classes, inversely proportional to their counts, whose mean over the labels is 1."""
    counts = torch.bincount(labels[labels != NO_LABEL], minlength=classes).float()
    return counts.sum() / (counts.count_nonzero().clamp(min=1) * counts.clamp(min=1))


def span_losses(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of a span's start and end, of scores (B, K, 2)."""
    return label_losses(scores, labels) / 2


def number_losses(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the squared error of numbers."""
    return (scores - labels).square()


def multi_label_losses(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the binary cross-entropy of each row, its mean over all labels, of logits (B, C) and targets (B, C)."""
    return F.binary_cross_entropy_with_logits(scores, labels, reduction="none").mean(1)


class HeadObjective:
    """The task loss, and the weighted next-token cross-entropy of a language model."""

    def __init__(
        self, lm_weight: float = 0.0, losses: Losses = label_losses, class_weights: Tensor | None = None
    ) -> None:
        self.lm_weight = lm_weight
        self.losses = losses if class_weights is None else partial(label_losses, class_weights=class_weights)
        self.parts = ("label", "lm") if lm_weight else ("label",)

    def counts(self, batch: HeadBatch) -> dict[str, int]:
        """Return the number of labels, and that of next tokens."""
        return dict(zip(self.parts, (batch.label_count, batch.token_count)))

    def __call__(self, model: ModelWithHead, batch: HeadBatch) -> Loss:
        """Return the loss of the labels and, if it has a weight, that of the tokens."""
        hidden = model.hidden_states(batch.reading)  # (M, D)
        scores = model.head_outputs(hidden, batch.places, batch.candidate_mask)
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        loss = {"label": LossPart(self._sum(wide, batch.labels), batch.label_count)}
        if self.lm_weight:
            states = hidden.index_select(0, batch.lm_positions)  # (N, D)
            sums = cross_entropy(states, model.head.weight, model.head.bias, batch.token_labels)
            loss["lm"] = LossPart(sums.smoothed, batch.token_count, self.lm_weight)
        return loss

    def _sum(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return the sum of the losses; rows that only fill a bucket have labels of NaN, and no loss."""
        if not labels.is_floating_point():
            return self.losses(scores, labels).sum()
        is_filler = labels.isnan()
        losses = self.losses(scores, torch.where(is_filler, scores.detach(), labels.to(scores.dtype)))
        return losses.masked_fill(is_filler.reshape(len(labels), -1).any(1), 0.0).sum()

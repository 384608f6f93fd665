"""The objective of fine-tuning: the right answer, and for language models the next token of its text as a helper."""

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from regard.config.settings import Settings
from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.labeled import HeadBatch
from regard.models.heads import ModelWithHead
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart


class LabelObjectiveSettings(Settings):
    """What is minimised."""

    lm_weight: float | None = Field(None, ge=0)
    """Weight of a language model's next token beside the label (Radford et al., 2018, §3.2); unset: 0.5; 0: none."""


class HeadObjective:
    """How wrong the answer is, and weighted beside it the cross-entropy of every token from those before it.

    Cross-entropy of labels, tags and choices, and of both ends of a span (the mean); the square of a number's error.
    """

    def __init__(self, lm_weight: float = 0.0) -> None:
        self.lm_weight = lm_weight
        self.parts = ("label", "lm") if lm_weight else ("label",)

    def counts(self, batch: HeadBatch) -> dict[str, int]:
        """Return the number of labels, and that of tokens that follow another."""
        return dict(zip(self.parts, (batch.label_count, batch.token_count)))

    def __call__(self, model: ModelWithHead, batch: HeadBatch) -> Loss:
        """Return the loss of the labels and, where it has a weight, that of the tokens."""
        hidden = model.hidden_states(batch.reading)  # (M, D)
        scores = model.head_outputs(hidden, batch.places, batch.candidate_mask)
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        loss = {"label": LossPart(_wrongness(model.kind, wide, batch.labels), batch.label_count)}
        if self.lm_weight:
            said = hidden.index_select(0, batch.lm_positions)  # (N, D)
            sums = cross_entropy(said, model.head.weight, model.head.bias, batch.token_labels)
            loss["lm"] = LossPart(sums.smoothed, batch.token_count, self.lm_weight)
        return loss


def _wrongness(kind: str, scores: Tensor, labels: Tensor) -> Tensor:
    """Return the sum over all answers."""
    if kind in ("regression", "similarity"):
        # Where there is no label there is no error: the score stands in, as a number without a past.
        right = torch.where(labels.isnan(), scores.detach(), labels.to(scores.dtype))
        return (scores - right).square().sum()
    if kind == "extractive-qa":  # (B, K, 2)
        return F.cross_entropy(scores, labels, ignore_index=NO_LABEL, reduction="sum") / 2
    return F.cross_entropy(scores, labels, ignore_index=NO_LABEL, reduction="sum")

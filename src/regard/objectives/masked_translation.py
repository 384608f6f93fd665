"""The objective of conditional masked models: the masked words of a target, and how long it is."""

import torch
from pydantic import Field
from torch.nn import functional as F

from regard.data.batches import NO_LABEL
from regard.data.masked_pairs import MaskedBatch
from regard.models import ConditionalMasked
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, Part
from regard.objectives.translation import ObjectiveSettings


class MaskedObjectiveSettings(ObjectiveSettings):
    """What is minimised."""

    length_weight: float = Field(0.1, gt=0)
    """Weight of the loss of a target's length beside that of its words."""


class MaskedTranslationObjective:
    """Label-smoothed cross-entropy of the masked words, and weighted beside it that of the length."""

    parts = ("translation", "surprise", "length")

    def __init__(self, label_smoothing: float, length_weight: float = 0.1) -> None:
        self.label_smoothing, self.length_weight = label_smoothing, length_weight

    def counts(self, batch: MaskedBatch) -> dict[str, int]:
        """Return the number of masked words, twice, and that of targets."""
        return dict(zip(self.parts, (batch.label_count, batch.label_count, batch.length_count)))

    def __call__(self, model: ConditionalMasked, batch: MaskedBatch) -> Loss:
        """Return the smoothed loss and that of the length to learn from, and the plain surprise to report."""
        memory = model.encode(batch.source, batch.source_real)
        hidden = model.decode(batch.target, memory, batch.target_real)  # (B, T, D)
        masked = hidden.flatten(0, 1).index_select(0, batch.label_places)  # (N, D)
        sums = cross_entropy(masked, model.head.weight, model.head.bias, batch.labels, self.label_smoothing)
        scores = model.length_scores(memory)  # (B, C)
        reach = model.length_reach
        longer = (batch.lengths - batch.source_real.sum(1)).clamp(-reach, reach) + reach
        longer = longer.masked_fill(batch.lengths == NO_LABEL, NO_LABEL)
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        length = F.cross_entropy(wide, longer, ignore_index=NO_LABEL, reduction="sum")
        return {
            "translation": Part(sums.smoothed, batch.label_count),
            "surprise": Part(sums.plain, batch.label_count, weight=0.0),
            "length": Part(length, batch.length_count, self.length_weight),
        }

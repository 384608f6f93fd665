"""The objective of fine-tuning: the label of an example, and the next token of its text as a helper."""

import torch
from pydantic import Field
from torch.nn import functional as F

from regard.config import Settings
from regard.data.batches import NO_LABEL
from regard.data.examples import LabelBatch
from regard.models import Headed
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, Part


class LabelObjectiveSettings(Settings):
    """What is minimised."""

    language_weight: float = Field(0.5, ge=0)
    """Weight of the next token's loss beside the label's, as in Radford et al. (2018, §3.2); 0 turns it off."""


class LabelObjective:
    """Cross-entropy of the label, and weighted beside it that of every token from those before it."""

    def __init__(self, language_weight: float = 0.0) -> None:
        self.language_weight = language_weight
        self.parts = ("label", "language") if language_weight else ("label",)

    def counts(self, batch: LabelBatch) -> dict[str, int]:
        """Return the number of labels, and that of tokens that follow another."""
        return dict(zip(self.parts, (batch.label_count, batch.token_count)))

    def __call__(self, model: Headed, batch: LabelBatch) -> Loss:
        """Return the loss of the labels and, where it has a weight, that of the tokens."""
        hidden = model.read(batch.tokens)  # (B * K, T, D)
        scores = model.answer(hidden, batch.extracts, batch.offered)  # (B, C), or (B, K)
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        surprise = F.cross_entropy(wide, batch.labels, ignore_index=NO_LABEL, reduction="sum")
        loss = {"label": Part(surprise, batch.label_count)}
        if self.language_weight:
            said = hidden.flatten(0, 1).index_select(0, batch.token_places)  # (N, D)
            sums = cross_entropy(said, model.head.weight, model.head.bias, batch.token_labels)
            loss["language"] = Part(sums.smoothed, batch.token_count, self.language_weight)
        return loss

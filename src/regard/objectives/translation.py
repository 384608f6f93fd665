"""The objective of translation: every target token from the source and the target tokens before it."""

from pydantic import Field

from regard.config import Settings
from regard.data.batches import TranslationBatch
from regard.models import SequenceToSequence
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, Part


class ObjectiveSettings(Settings):
    """What is minimised."""

    label_smoothing: float = Field(0.1, ge=0, lt=1)
    """Share of the target distribution taken from the right word and spread over all others."""


class TranslationObjective:
    """Label-smoothed cross-entropy under teacher forcing; logits only where a target token stands."""

    parts = ("translation", "surprise")

    def __init__(self, label_smoothing: float) -> None:
        self.label_smoothing = label_smoothing

    def counts(self, batch: TranslationBatch) -> dict[str, int]:
        """Return the number of real target tokens, for both parts."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: SequenceToSequence, batch: TranslationBatch) -> Loss:
        """Return the smoothed loss to learn from and the surprise (plain negative log probability) to report."""
        memory = model.encode(batch.source, batch.source_real)
        hidden = model.decode(batch.target, memory)  # (B, T, D)
        real = hidden.flatten(0, 1).index_select(0, batch.label_places)  # (N, D)
        sums = cross_entropy(real, model.head.weight, model.head.bias, batch.labels, self.label_smoothing)
        count = batch.label_count
        return {"translation": Part(sums.smoothed, count), "surprise": Part(sums.plain, count, weight=0.0)}

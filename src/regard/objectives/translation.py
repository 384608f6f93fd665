"""The objective of translation: every target token from the source and the target tokens before it."""

from pydantic import Field
from torch import Tensor

from regard.config.settings import Settings
from regard.data.encoding.batches import TranslationBatch
from regard.models.base.protocols import Seq2Seq
from regard.nn.layers.embedding import VocabularyHead
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart
from regard.objectives.r_drop import disagreement


class ObjectiveSettings(Settings):
    """What is minimised."""

    label_smoothing: float = Field(0.1, ge=0, lt=1)
    """Share of the target distribution taken from the right word and spread over all others."""
    r_drop: float = Field(0.0, ge=0)
    """Weight of how far two readings of a batch with different dropout are apart (R-Drop); takes twice the work."""


class TranslationObjective:
    """Label-smoothed cross-entropy under teacher forcing; logits only where a target token stands.

    With a weight on R-Drop, every example is read twice, each time with other dropout; the loss is the mean of
    both, and beside it stands how far apart what they say is (Liang et al., 2021).
    """

    def __init__(self, label_smoothing: float, r_drop: float = 0.0) -> None:
        self.label_smoothing = label_smoothing
        self.r_drop = r_drop
        self.parts = ("ce", "nll", "r_drop") if r_drop else ("ce", "nll")

    def counts(self, batch: TranslationBatch) -> dict[str, int]:
        """Return the number of real target tokens, for every part."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: Seq2Seq, batch: TranslationBatch) -> Loss:
        """Return the smoothed loss to learn from and the surprise (plain negative log probability) to report."""
        readings = 2 if self.r_drop else 1
        memory = model.encode(batch.source.repeat(readings, 1), batch.source_mask.repeat(readings, 1))
        hidden = model.decode(batch.target.repeat(readings, 1), memory)  # (readings * B, T, D)
        return word_parts(hidden, model.head, batch, self.label_smoothing, self.r_drop)


def word_parts(
    hidden: Tensor, head: VocabularyHead, batch: TranslationBatch, label_smoothing: float, r_drop: float
) -> Loss:
    """Return what is learned from the words of a batch, for hidden states (readings * B, T, D)."""
    readings, count = 2 if r_drop else 1, batch.label_count
    said = (
        hidden.unflatten(0, (readings, -1)).flatten(1, 2).index_select(1, batch.label_positions)
    )  # (readings, N, D)
    labels = batch.labels.repeat(readings)
    sums = cross_entropy(said.flatten(0, 1), head.weight, head.bias, labels, label_smoothing)
    loss = {
        "ce": LossPart(sums.smoothed / readings, count),
        "nll": LossPart(sums.plain / readings, count, weight=0.0),
    }
    if r_drop:
        apart = disagreement(said[0], said[1], head.weight, head.bias, batch.labels)
        loss["r_drop"] = LossPart(apart, count, r_drop)
    return loss

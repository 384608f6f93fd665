"""The objective of translation: next-token cross-entropy of the target, given the source."""

from torch import Tensor

from regard.data.encoding.batches import TranslationBatch
from regard.models.base.protocols import Seq2Seq
from regard.nn.layers.embedding import VocabularyHead
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart
from regard.objectives.r_drop import symmetric_kl


class TranslationObjective:
    """Label-smoothed cross-entropy under teacher forcing; logits exist for target tokens only.

    With R-Drop, every example passes the model twice with different dropout; the loss is the mean of both plus the
    weighted symmetric KL divergence of their predictions (Liang et al., 2021).
    """

    def __init__(self, label_smoothing: float, r_drop: float = 0.0) -> None:
        self.label_smoothing = label_smoothing
        self.r_drop = r_drop
        self.parts = ("ce", "nll", "r_drop") if r_drop else ("ce", "nll")

    def counts(self, batch: TranslationBatch) -> dict[str, int]:
        """Return the number of target tokens, for every part."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: Seq2Seq, batch: TranslationBatch) -> Loss:
        """Return the smoothed cross-entropy, and the plain negative log-likelihood to report."""
        passes = 2 if self.r_drop else 1
        memory = model.encode(batch.source.repeat(passes, 1), batch.source_mask.repeat(passes, 1))
        hidden = model.decode(batch.target.repeat(passes, 1), memory)  # (passes * B, T, D)
        return word_parts(hidden, model.head, batch, self.label_smoothing, self.r_drop)


def word_parts(
    hidden: Tensor, head: VocabularyHead, batch: TranslationBatch, label_smoothing: float, r_drop: float
) -> Loss:
    """Return the loss of a batch's target tokens for hidden states (passes * B, T, D)."""
    passes, count = 2 if r_drop else 1, batch.label_count
    states = hidden.unflatten(0, (passes, -1)).flatten(1, 2).index_select(1, batch.label_positions)  # (passes, N, D)
    labels = batch.labels.repeat(passes)
    sums = cross_entropy(states.flatten(0, 1), head.weight, head.bias, labels, label_smoothing)
    loss = {
        "ce": LossPart(sums.smoothed / passes, count),
        "nll": LossPart(sums.plain / passes, count, weight=0.0),
    }
    if r_drop:
        divergence = symmetric_kl(states[0], states[1], head.weight, head.bias, batch.labels)
        loss["r_drop"] = LossPart(divergence, count, r_drop)
    return loss

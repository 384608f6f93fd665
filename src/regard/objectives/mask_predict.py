"""The objective of conditional masked language models: masked target tokens, and the target length."""

import torch
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.mask_predict import MaskPredictBatch
from regard.models.base.protocols import ConditionalMaskedLM
from regard.objectives.loss import Loss, LossPart
from regard.objectives.translation import word_parts


class MaskedTranslationObjective:
    """Label-smoothed cross-entropy of the masked tokens, and the weighted one of the length.

    With R-Drop, every example passes the model twice with different dropout, as in translation.
    """

    def __init__(self, label_smoothing: float, r_drop: float = 0.0, length_weight: float = 0.1) -> None:
        self.label_smoothing, self.r_drop, self.length_weight = label_smoothing, r_drop, length_weight
        words = ("ce", "nll", "r_drop") if r_drop else ("ce", "nll")
        self.parts = (*words, "length")

    def counts(self, batch: MaskPredictBatch) -> dict[str, int]:
        """Return the number of masked tokens, and that of targets."""
        return dict.fromkeys(self.parts[:-1], batch.label_count) | {"length": batch.length_count}

    def __call__(self, model: ConditionalMaskedLM, batch: MaskPredictBatch) -> Loss:
        """Return the smoothed cross-entropy, the length loss, and the plain negative log-likelihood to report."""
        passes = 2 if self.r_drop else 1
        memory = model.encode(batch.source.repeat(passes, 1), batch.source_mask.repeat(passes, 1))
        target, token_mask = batch.target.repeat(passes, 1), batch.target_mask.repeat(passes, 1)
        loss = word_parts(
            model.decode(target, memory, token_mask), model.head, batch, self.label_smoothing, self.r_drop
        )
        limit = model.max_length_offset
        offsets = (batch.lengths - batch.source_mask.sum(1)).clamp(-limit, limit) + limit
        offsets = offsets.masked_fill(batch.lengths == NO_LABEL, NO_LABEL)
        scores = model.length_scores(memory)  # (passes * B, C)
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        length = F.cross_entropy(wide, offsets.repeat(passes), ignore_index=NO_LABEL, reduction="sum")
        loss["length"] = LossPart(length / passes, batch.length_count, self.length_weight)
        return loss

"""The objective of BERT: masked language modeling and next-sentence prediction."""

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MlmBatch
from regard.models.bert import Bert
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart


class MaskedObjective:
    """Cross-entropy of masked tokens and, if the model has a head for it, of next-sentence prediction.

    Each is a mean over its own count; the loss is their sum (Devlin et al., 2019, §A.2).
    """

    def __init__(self, nsp_weight: float = 1.0) -> None:
        self.nsp_weight = nsp_weight
        self.parts = ("mlm", "nsp") if nsp_weight else ("mlm",)

    def counts(self, batch: MlmBatch) -> dict[str, int]:
        """Return the number of masked tokens, and that of pairs."""
        return dict(zip(self.parts, (batch.label_count, batch.pair_count)))

    def __call__(self, model: Bert, batch: MlmBatch) -> Loss:
        """Return the losses of masked tokens and of next sentences; only masked tokens have vocabulary logits."""
        hidden = hidden_states_varlen(model, batch)  # (N, D)
        states = model.transform(hidden.index_select(0, batch.label_positions))  # (M, D)
        sums = cross_entropy(states, model.head.weight, model.head.bias, batch.labels)
        loss = {"mlm": LossPart(sums.smoothed, batch.label_count)}
        if self.nsp_weight:
            scores = follows(model, hidden, batch.cu_seqlens)
            nsp = F.cross_entropy(scores, batch.is_next, ignore_index=NO_LABEL, reduction="sum")
            loss["nsp"] = LossPart(nsp, batch.pair_count, self.nsp_weight)
        return loss


def hidden_states_varlen(model: Bert, batch: MlmBatch) -> Tensor:
    """Return the hidden states (N, D) of a batch."""
    return model.hidden_states_varlen(
        batch.tokens, batch.segments, batch.positions, batch.cu_seqlens, batch.max_seqlen
    )


def follows(model: Bert, hidden: Tensor, cu_seqlens: Tensor) -> Tensor:
    """Return next-sentence logits (R, 2): the second text follows the first, or is a random one."""
    assert model.next_sentence is not None
    first = hidden.index_select(0, cu_seqlens[:-1])
    scores = model.next_sentence(model.pool(first))
    return scores.to(torch.promote_types(scores.dtype, torch.float32))

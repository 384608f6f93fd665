"""The objective of ELMo: a forward and a backward language model over words."""

from torch import Tensor

from regard.data.feeds.char_words import CharWordBatch
from regard.models.elmo.model import Elmo
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart


class BidirectionalObjective:
    """Cross-entropy of the next and of the previous word, with a shared output layer; the loss is their mean."""

    parts = ("forward", "backward")

    def counts(self, batch: CharWordBatch) -> dict[str, int]:
        """Return the number of labels, equal for both directions."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: Elmo, batch: CharWordBatch) -> Loss:
        """Return the losses of both directions."""
        sums = {
            name: cross_entropy(hidden, model.head.weight, model.head.bias, labels).smoothed
            for name, (hidden, labels) in direction_labels(model, batch).items()
        }
        return {name: LossPart(total, batch.label_count, weight=0.5) for name, total in sums.items()}


def direction_labels(model: Elmo, batch: CharWordBatch) -> dict[str, tuple[Tensor, Tensor]]:
    """Return the hidden states (N, D) and the words they predict (N,) of each direction, in the same order."""
    states = model.layers(batch.tokens, batch.cu_seqlens).states[-1]  # (R, T, 2 D)
    ahead, back = model.dropout(states).chunk(2, -1)
    has_label = batch.words[:, 1:] >= 0  # a word, which then has a word before it
    return {
        "forward": (ahead[:, :-1][has_label], batch.words[:, 1:][has_label]),
        "backward": (back[:, 1:][has_label], batch.words[:, :-1][has_label]),
    }

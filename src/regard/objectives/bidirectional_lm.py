"""The objective of ELMo: every word from those before it, and every word from those behind it."""

from regard.data.feeds.char_words import CharWordBatch
from regard.models.elmo.model import Elmo
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart


class TwoWayObjective:
    """Cross-entropy of the next word and of the one before, by the same scores; what is minimised is their mean."""

    parts = ("forward", "backward")

    def counts(self, batch: CharWordBatch) -> dict[str, int]:
        """Return the number of words that have a neighbor, which is the same on either side."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: Elmo, batch: CharWordBatch) -> Loss:
        """Return the losses of both directions."""
        states = model.layers(batch.tokens, batch.cu_seqlens).states[-1]  # (R, T, 2 D)
        ahead, back = model.dropout(states).chunk(2, -1)
        has_two = batch.words[:, 1:] >= 0  # a word, and then one before it too
        pairs = {
            "forward": (ahead[:, :-1][has_two], batch.words[:, 1:][has_two]),
            "backward": (back[:, 1:][has_two], batch.words[:, :-1][has_two]),
        }
        sums = {
            name: cross_entropy(known, model.head.weight, model.head.bias, labels).smoothed
            for name, (known, labels) in pairs.items()
        }
        return {name: LossPart(total, batch.label_count, weight=0.5) for name, total in sums.items()}

"""The objective of causal language models: next-token cross-entropy."""

from regard.data.feeds.windows import WindowBatch
from regard.models.base.protocols import CausalLM
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.loss import Loss, LossPart


class LanguageObjective:
    """Cross-entropy of the next token at every position that has one."""

    parts = ("ce", "nll")

    def __init__(self, label_smoothing: float = 0.0) -> None:
        self.label_smoothing = label_smoothing

    def counts(self, batch: WindowBatch) -> dict[str, int]:
        """Return the number of labels, for both parts."""
        return dict.fromkeys(self.parts, batch.label_count)

    def __call__(self, model: CausalLM, batch: WindowBatch) -> Loss:
        """Return the smoothed cross-entropy, and the plain negative log-likelihood to report."""
        hidden = model.hidden_states(batch.tokens).flatten(0, 1)  # (B * T, D)
        sums = cross_entropy(hidden, model.head.weight, model.head.bias, batch.labels.flatten(), self.label_smoothing)
        count = batch.label_count
        return {"ce": LossPart(sums.smoothed, count), "nll": LossPart(sums.plain, count, weight=0.0)}

"""The task `regress`: a number for a text or text pair."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.checkpoint.facts import TaskFiles
from regard.data.sources.labeled import LabeledRow
from regard.data.sources.memory import NUMBER, TEXT
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.regression import regression_scores, regression_statistics
from regard.models.base.family import Kind
from regard.models.base.settings import HeadSettings
from regard.pipelines.head_scores import Scores
from regard.pipelines.inputs import TextRow
from regard.progress import SILENT, Progress
from regard.tasks.declarations import InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.finetune.base import Settings
from regard.tasks.finetune.pipeline import encode_rows
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.finetune.settings import Pooling
from regard.tasks.finetune.texts import TextHeadTask
from regard.tasks.regress.pipeline import Regression, RegressOptions, Regressor
from regard.tasks.regress.records import RegressFacts
from regard.tasks.regress.settings import RegressSettings
from regard.tasks.settings import FINE_TUNING_RATES

if TYPE_CHECKING:
    from torch import Tensor

    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.labeled import EncodedExamples

KINDS: tuple[Kind, ...] = ("causal-lm", "encoder", "bidirectional-lm", "embeddings")

SAME = 1e-3
"""Standard deviation of numbers that are all alike, as a fraction of their mean."""
NO_CORRELATION = 0.02
"""Rank correlation below which predictions carry no information on the numbers."""


class Regress(TextHeadTask[RegressFacts, Regressor]):
    """Text regression, and similarity of text pairs."""

    name, preset, head = "regress", "bert-mini", "regression"
    wording = Wording("a regression model", "regression models", "--data FILE")
    files = TaskFiles(
        RegressFacts,
        KINDS,
        ("regression", "similarity"),
        (frozenset({"tokenizer"}), frozenset({"tokenizer", "words"})),
    )
    rows = {"text": TEXT, "label": NUMBER}, {"text1": TEXT, "text2": TEXT, "label": NUMBER}
    facts, run_settings = RegressFacts, RegressSettings
    metrics = (
        Metric("spearman", "Spearman", is_validated=True),
        Metric("pearson", "Pearson", is_validated=True),
        Metric("mean_absolute_error", "mean absolute error", best="min"),
        Metric("mean_squared_error", "mean squared error", best="min", is_validated=True),
    )
    score_note = (
        f"{TextHeadTask.score_note} Errors are in the units of the labels; the loss is the mean squared error in "
        "units of the training set's standard deviation."
    )
    score_names = (ScoreName("spearman", "Spearman %"), ScoreName("pearson", "Pearson %"))
    operations = (
        Operation(
            "regress",
            "Predict numbers.",
            TextRow,
            ("text", "second"),
            RegressOptions,
            Regression,
            arguments="TEXT",
            example='"your text"',
            call='regressor("your text").number',
            variable="regressor",
        ),
    )
    init_from = InitFrom({kind: FINE_TUNING_RATES[kind] for kind in KINDS}, has_new_head=True)
    is_number = True

    def baseline(self, examples: Sequence[LabeledRow], encoded: "EncodedExamples") -> dict[str, float]:
        """Return the rank correlation of nearly constant predictions, and the squared error of the mean."""
        return {
            "spearman": NO_CORRELATION,
            "loss": float(np.var(encoded.labels)),
        }

    def label_counts(self, examples: Sequence[LabeledRow]) -> Counter[str]:
        """Return no counts: numbers are not labels."""
        return Counter()

    def learn(
        self, settings: Settings, train: Sequence[LabeledRow], labels: Sequence[str], pretrained: "Bundle | None"
    ) -> dict[str, Any]:
        """Return the encoding of pairs, center and spread of the numbers: mean and deviation, or minimum and range.

        The cosine of a bi-encoder, the default for a pretrained text embedder, covers the range.
        """
        from regard.tasks.init_from import pretrained_embeds

        assert isinstance(settings, RegressSettings)
        default = "bi-encoder" if len(train[0].texts) == 2 and pretrained_embeds(pretrained) else "cross-encoder"
        pair_encoding = settings.pair_encoding or default
        facts = self.pair_facts(pair_encoding, train)
        numbers = [float(each.label) for each in train]
        low, high = min(numbers), max(numbers)
        if low == high or not statistics.pstdev(numbers):
            raise DataError(
                f"{settings.data.train.name}: every example has the number {low:g}, so there is nothing to predict; "
                f"give others."
            )
        if pair_encoding == "bi-encoder":
            return facts | {"center": low, "spread": high - low}
        return facts | {"center": statistics.fmean(numbers), "spread": statistics.pstdev(numbers)}

    def head_settings(self, facts: RegressFacts, dropout: float, pooling: Pooling) -> HeadSettings:
        """Return the settings of the head; the cosine of a bi-encoder has no weights."""
        if facts.pair_encoding == "bi-encoder":
            return HeadSettings(kind="similarity", outputs=1, dropout=dropout, pooling="mean")
        return super().head_settings(facts, dropout, pooling)

    def losses(self, scores: "Tensor", labels: "Tensor") -> "Tensor":
        """Return the squared errors of the numbers."""
        from regard.objectives.head import number_losses

        return number_losses(scores, labels)

    def encode(
        self, examples: Sequence[LabeledRow], bundle: "Bundle", progress: Progress = SILENT
    ) -> "EncodedExamples":
        """Return examples as ids, their numbers in the units of the head."""
        facts = self.read_facts(bundle)
        labels = [(float(each.label) - facts.center) / facts.spread for each in examples]
        return encode_rows(bundle, [each.texts for each in examples], labels, progress)

    def predictions(
        self, examples: Sequence[LabeledRow], encoded: "EncodedExamples", outputs: list[Scores], facts: RegressFacts
    ) -> Predictions:
        """Return the predicted numbers."""
        values = np.array([float(each) for each in outputs])
        loss = float(np.mean((values - encoded.labels) ** 2))
        return Predictions([repr(facts.center + facts.spread * each) for each in values.tolist()], [], loss)

    def compute_metrics(
        self, examples: Sequence[LabeledRow], predictions: Predictions, facts: RegressFacts
    ) -> dict[str, Any]:
        """Return correlations and errors."""
        return asdict(
            regression_scores([float(each.label) for each in examples], list(map(float, predictions.lines)))
        )

    def statistics_of(
        self, examples: Sequence[LabeledRow], lines: Sequence[str], facts: RegressFacts
    ) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each example counts."""
        return regression_statistics([float(each.label) for each in examples], list(map(float, lines)))

    def errors(self, examples: Sequence[LabeledRow], predictions: Predictions, count: int) -> list[ErrorExample]:
        """Return the predictions with the largest errors."""
        pairs = [(float(each.label), float(line)) for each, line in zip(examples, predictions.lines, strict=True)]
        rows = sorted(range(len(pairs)), key=lambda row: -abs(pairs[row][0] - pairs[row][1]))[:count]
        return [
            ErrorExample(list(examples[row].texts), f"{truth:.4g}", f"{predicted:.4g}", None)
            for row in rows
            for truth, predicted in [pairs[row]]
        ]

    def constant(self, outputs: Sequence[str]) -> str:
        """Return the sentence on numbers that hardly differ; empty if they do."""
        numbers = [float(each) for each in outputs]
        middle, spread = statistics.fmean(numbers), statistics.pstdev(numbers)
        is_constant = len(numbers) > 1 and spread <= SAME * max(1e-9, abs(middle))
        return f"all {len(numbers):,} numbers are {middle:.4g}" if is_constant else ""

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> Regressor:
        """Return a regressor."""
        return Regressor(bundle)


TASK = Regress()

"""The task `classify`: one of several labels for a text or text pair."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.checkpoint.facts import TaskFiles
from regard.config.parsing import parse_integer
from regard.data.encoding.labeled import EncodedExamples
from regard.data.sources.labeled import LabeledRow
from regard.data.sources.memory import LABEL, TEXT
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.classification import label_scores, label_statistics
from regard.models.base.family import Kind
from regard.pipelines.head_scores import Scores, mean_nll, softmax
from regard.pipelines.inputs import TextRow
from regard.progress import SILENT, Progress
from regard.tasks.classify.pipeline import Classification, Classifier, ClassifyOptions
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.classify.settings import ClassifySettings
from regard.tasks.declarations import InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.finetune.base import Settings
from regard.tasks.finetune.labels import check_labels, label_at
from regard.tasks.finetune.pipeline import encode_rows
from regard.tasks.finetune.predictions import Predictions, ScoreName
from regard.tasks.finetune.texts import TextHeadTask
from regard.tasks.init_from import FINE_TUNING_RATES

FEW_LABELS = 20
"""Number of labels up to which a column is always taken for labels."""
KINDS: tuple[Kind, ...] = ("causal-lm", "encoder", "bidirectional-lm", "embeddings")


class Classify(TextHeadTask[ClassifyFacts, Classifier]):
    """Text classification."""

    name, preset, head = "classify", "gpt-tiny", "classification"
    wording = Wording("a classifier", "classifiers", "--data FILE")
    files = TaskFiles(
        ClassifyFacts, KINDS, ("classification",), (frozenset({"tokenizer"}), frozenset({"tokenizer", "words"}))
    )
    rows = {"text": TEXT, "label": LABEL}, {"text1": TEXT, "text2": TEXT, "label": LABEL}
    facts, run_settings = ClassifyFacts, ClassifySettings
    metrics = (
        Metric("accuracy", "accuracy", is_validated=True),
        Metric("macro_f1", "macro F1", is_validated=True),
        Metric("matthews", "Matthews", is_validated=True),
        Metric("majority_baseline", "majority baseline"),
    )
    score_note = (
        f"{TextHeadTask.score_note} The majority baseline is the accuracy of the most frequent label; the loss is in "
        "nats per example."
    )
    score_names = (
        ScoreName("accuracy", "accuracy %"),
        ScoreName("macro_f1", "macro F1 %"),
        ScoreName("matthews", "Matthews %"),
    )
    operations = (
        Operation(
            "classify",
            "Label texts.",
            TextRow,
            ("text", "second"),
            ClassifyOptions,
            Classification,
            protocols=("huggingface:text-classification",),
            arguments="TEXT",
            example='"your text"',
            call='classifier("your text").label',
            variable="classifier",
        ),
    )
    init_from = InitFrom({kind: FINE_TUNING_RATES[kind] for kind in KINDS}, has_new_head=True)
    shows_imbalance = True

    def labels(self, train: Sequence[LabeledRow], name: str) -> list[str]:
        """Return the labels, in numerical or alphabetical order; too many of them are refused."""
        labels = {each.label for each in train}
        if len(labels) == 1:
            raise DataError(
                f'{name}: every example has the label "{labels.pop()}", so there is nothing to distinguish; '
                f"give some of another."
            )
        if len(labels) > max(FEW_LABELS, len(train) // 2):
            raise DataError(
                f"{name}: {len(labels):,} labels for {len(train):,} examples are too many; name the right column "
                f"with label_column."
            )
        numbers = {each: parse_integer(each) for each in labels}
        if any(number is None or number < 0 for number in numbers.values()):
            return sorted(labels)
        return sorted(labels, key=lambda each: (numbers[each], each))

    def learn(
        self, settings: Settings, train: Sequence[LabeledRow], labels: Sequence[str], pretrained: Bundle | None
    ) -> dict[str, Any]:
        """Return the labels and the encoding of pairs."""
        assert isinstance(settings, ClassifySettings)
        return {"labels": list(labels)} | self.pair_facts(settings.pair_encoding, train)

    def check_rows(self, name: str, examples: Sequence[LabeledRow], facts: ClassifyFacts) -> None:
        """Refuse labels that the training set does not have."""
        super().check_rows(name, examples, facts)
        check_labels(name, Counter(each.label for each in examples), facts.labels)

    def adapt(
        self, name: str, examples: Sequence[LabeledRow], bundle: Bundle, progress: Progress
    ) -> list[LabeledRow]:
        """Return examples with the model's labels in place of label ids."""
        rows, known = super().adapt(name, examples, bundle, progress), self.read_facts(bundle).labels
        names = {index: label_at(index, known) for index in sorted({each.label for each in rows})}
        if any(index in known or label is None for index, label in names.items()):
            return rows
        progress.info(f"{name}: {', '.join(f'{index} is {label}' for index, label in names.items())}.")
        return [each._replace(label=str(names[each.label])) for each in rows]

    def outputs(self, facts: ClassifyFacts) -> int:
        """Return the number of labels."""
        return len(facts.labels)

    def encode(self, examples: Sequence[LabeledRow], bundle: Bundle, progress: Progress = SILENT) -> EncodedExamples:
        """Return examples as ids."""
        ids = self.read_facts(bundle).label_ids
        labels = [ids[each.label] for each in examples]
        return encode_rows(bundle, [each.texts for each in examples], labels, progress)

    def predictions(
        self, examples: Sequence[LabeledRow], encoded: EncodedExamples, outputs: list[Scores], facts: ClassifyFacts
    ) -> Predictions:
        """Return the most probable labels."""
        probabilities = [softmax(each) for each in outputs]
        lines = [facts.labels[int(each.argmax())] for each in probabilities]
        return Predictions(
            lines, [float(each.max()) for each in probabilities], mean_nll(probabilities, encoded.labels)
        )

    def compute_metrics(
        self, examples: Sequence[LabeledRow], predictions: Predictions, facts: ClassifyFacts
    ) -> dict[str, Any]:
        """Return accuracy, F1 and Matthews' correlation, and the metrics of each label."""
        ids = facts.label_ids
        truth, predicted = [ids[each.label] for each in examples], [ids[line] for line in predictions.lines]
        scores = label_scores(truth, predicted, facts.labels)
        return {
            "accuracy": scores.accuracy,
            "majority_baseline": Counter(truth).most_common(1)[0][1] / len(truth),
            "micro_f1": scores.micro_f1,
            "macro_f1": scores.macro_f1,
            "matthews": scores.matthews,
            "classes": [asdict(each) for each in scores.classes],
            "confusion": [list(row) for row in scores.confusion],
        }

    def statistics_of(
        self, examples: Sequence[LabeledRow], lines: Sequence[str], facts: ClassifyFacts
    ) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each example counts."""
        ids = facts.label_ids
        return label_statistics([ids[each.label] for each in examples], [ids[line] for line in lines], len(ids))

    def pipeline(self, bundle: Bundle, options: LoadOptions) -> Classifier:
        """Return a classifier."""
        return Classifier(bundle)


TASK = Classify()

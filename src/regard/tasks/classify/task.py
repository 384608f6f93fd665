"""The task `classify`: one of several labels for a text or text pair, or any number of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from regard.checkpoint.facts import TaskFiles
from regard.config.parsing import parse_integer, parse_json
from regard.data.settings.examples import ClassSource
from regard.data.sources.labeled import LabeledRow, label_list
from regard.data.sources.memory import LABELS, TEXT
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.classification import label_scores, label_statistics
from regard.models.base.family import Kind
from regard.pipelines.head_scores import Scores, mean_nll, softmax
from regard.pipelines.inputs import TextRow
from regard.progress import SILENT, Progress
from regard.tasks.classify import multi_label
from regard.tasks.classify.pipeline import Classification, Classifier, ClassifyOptions, check_threshold
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.classify.settings import MULTI_LABEL, SINGLE_LABEL, THRESHOLD, VALIDATED, ClassifySettings
from regard.tasks.declarations import Check, EvaluateOptions, InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.evaluation import Evaluation
from regard.tasks.finetune.base import Settings
from regard.tasks.finetune.labels import check_labels, label_at
from regard.tasks.finetune.pipeline import encode_rows
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.finetune.texts import TextHeadTask
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord
from regard.tasks.settings import FINE_TUNING_RATES

if TYPE_CHECKING:
    from torch import Tensor

    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.labeled import EncodedExamples
    from regard.tasks.data import EvalSet

FEW_LABELS = 20
"""Number of labels up to which a column is always taken for labels."""
KINDS: tuple[Kind, ...] = ("causal-lm", "encoder", "bidirectional-lm", "embeddings")


class ClassifyEvaluation(EvaluateOptions):
    """Options of scoring a classifier."""

    threshold: float | None = Field(None, gt=0, lt=1)
    """Probability from which a multi-label model assigns a label (default: the checkpoint's)."""


class Classify(TextHeadTask[ClassifyFacts, Classifier]):
    """Text classification."""

    name, preset, head = "classify", "gpt-tiny", "classification"
    wording = Wording("a classifier", "classifiers", "--data FILE")
    files = TaskFiles(
        ClassifyFacts, KINDS, ("classification",), (frozenset({"tokenizer"}), frozenset({"tokenizer", "words"}))
    )
    source = ClassSource
    rows = {"text": TEXT, "label": LABELS}, {"text1": TEXT, "text2": TEXT, "label": LABELS}
    facts, run_settings = ClassifyFacts, ClassifySettings
    metrics = (
        Metric("accuracy", "accuracy", is_validated=True),
        Metric("micro_f1", "micro F1", is_validated=True),
        Metric("macro_f1", "macro F1", is_validated=True),
        Metric("exact_match", "exact match", is_validated=True),
        Metric("matthews", "Matthews", is_validated=True),
        Metric("majority_baseline", "majority baseline"),
    )
    score_note = (
        f"{TextHeadTask.score_note} The majority baseline is the accuracy of the most frequent label; the loss is in "
        "nats per example, in nats per label of multi-label models. Macro F1 is the mean of all labels that occur."
    )
    evaluation = ClassifyEvaluation
    score_names = (
        ScoreName("accuracy", "accuracy %"),
        ScoreName("micro_f1", "micro F1 %"),
        ScoreName("macro_f1", "macro F1 %"),
        ScoreName("exact_match", "exact match %"),
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
        is_multi_label = any(each.labels is not None for each in train)
        labels = set(self.label_counts(train))
        if not labels:
            raise DataError(f"{name}: no example has a label, so there is nothing to learn; give labels to some.")
        if len(labels) == 1 and not is_multi_label:
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
        self, settings: Settings, train: Sequence[LabeledRow], labels: Sequence[str], pretrained: "Bundle | None"
    ) -> dict[str, Any]:
        """Return the labels, whether a text may have several, and the encoding of pairs."""
        assert isinstance(settings, ClassifySettings)
        facts = {"labels": list(labels)} | self.pair_facts(settings.pair_encoding, train)
        if settings.problem_type != MULTI_LABEL:
            return facts
        return facts | {"problem_type": settings.problem_type, "threshold": settings.threshold or THRESHOLD}

    def metrics_of(self, settings: Settings) -> tuple[Metric, ...]:
        """Return the metrics of the problem: one label a text, or several."""
        assert isinstance(settings, ClassifySettings)
        problem = settings.problem_type or SINGLE_LABEL
        return tuple(each for each in self.metrics if each.key in VALIDATED[problem] or not each.is_validated)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned problem, and the planned settings of fine-tuning for it."""
        settings = plan.settings
        assert isinstance(settings, ClassifySettings)
        if settings.problem_type is None:
            problem = MULTI_LABEL if plan.has_label_lists else SINGLE_LABEL
            yield Default(
                "problem_type", problem, f"rows with {'lists of labels' if plan.has_label_lists else 'one label'}"
            )
            plan = replace(plan, settings=settings.model_copy(update={"problem_type": problem}))
        yield from super().defaults(plan)

    def label_counts(self, examples: Sequence[LabeledRow]) -> Counter[str]:
        """Return how many examples have each label."""
        return Counter(
            label for each in examples for label in ((each.label,) if each.labels is None else each.labels)
        )

    def baseline(self, examples: Sequence[LabeledRow], encoded: "EncodedExamples") -> dict[str, float]:
        """Return the validation metrics of the best constant prediction."""
        if any(each.labels is not None for each in examples):
            return multi_label.baseline(examples)
        return super().baseline(examples, encoded)

    def losses(self, scores: "Tensor", labels: "Tensor") -> "Tensor":
        """Return the cross-entropy of labels; with several a text, the binary one of each."""
        from regard.objectives.head import multi_label_losses

        return multi_label_losses(scores, labels) if labels.is_floating_point() else super().losses(scores, labels)

    def check_rows(self, name: str, examples: Sequence[LabeledRow], facts: ClassifyFacts) -> None:
        """Refuse labels that the training set does not have, and lists where one label belongs or the reverse."""
        super().check_rows(name, examples, facts)
        if facts.is_multi_label != (examples[0].labels is not None):
            has, way_out = (
                ("one label a row", "give lists of labels, or set label_separator for a table")
                if facts.is_multi_label
                else (
                    "lists of labels",
                    "give one label a row, or train with problem_type=multi_label_classification",
                )
            )
            raise DataError(f"{name}: it has {has}, and the problem is {facts.problem_type}; {way_out}.")
        check_labels(name, self.label_counts(examples), facts.labels)

    def adapt(
        self, name: str, examples: Sequence[LabeledRow], bundle: "Bundle", progress: Progress
    ) -> list[LabeledRow]:
        """Return examples with the model's labels in place of label ids."""
        rows, known = super().adapt(name, examples, bundle, progress), self.read_facts(bundle).labels
        names = {index: label_at(index, known) for index in sorted(self.label_counts(rows))}
        if any(index in known or label is None for index, label in names.items()):
            return rows
        progress.info(f"{name}: {', '.join(f'{index} is {label}' for index, label in names.items())}.")
        return [_renamed(each, {index: str(label) for index, label in names.items()}) for each in rows]

    def outputs(self, facts: ClassifyFacts) -> int:
        """Return the number of labels."""
        return len(facts.labels)

    def encode(
        self, examples: Sequence[LabeledRow], bundle: "Bundle", progress: Progress = SILENT
    ) -> "EncodedExamples":
        """Return examples as ids."""
        facts = self.read_facts(bundle)
        texts = [each.texts for each in examples]
        if facts.is_multi_label:
            return encode_rows(bundle, texts, multi_label.targets(examples, facts.labels), progress)
        return encode_rows(bundle, texts, [facts.label_ids[each.label] for each in examples], progress)

    def predictions(
        self, examples: Sequence[LabeledRow], encoded: "EncodedExamples", outputs: list[Scores], facts: ClassifyFacts
    ) -> Predictions:
        """Return the most probable labels, or those that reach the threshold."""
        if facts.is_multi_label:
            return multi_label.predictions(encoded.labels.astype(float), outputs, facts)
        probabilities = [softmax(each) for each in outputs]
        lines = [facts.labels[int(each.argmax())] for each in probabilities]
        return Predictions(
            lines, [float(each.max()) for each in probabilities], mean_nll(probabilities, encoded.labels)
        )

    def compute_metrics(
        self, examples: Sequence[LabeledRow], predictions: Predictions, facts: ClassifyFacts
    ) -> dict[str, Any]:
        """Return accuracy, F1 and Matthews' correlation, and the metrics of each label; exact match of several."""
        if facts.is_multi_label:
            return multi_label.metrics(examples, predictions.lines, facts)
        ids = facts.label_ids
        truth, predicted = [ids[each.label] for each in examples], [ids[line] for line in predictions.lines]
        scores = label_scores(truth, predicted, facts.labels)
        return {
            "accuracy": scores.accuracy,
            "majority_baseline": Counter(truth).most_common(1)[0][1] / len(truth),
            "macro_f1": scores.macro_f1,
            "matthews": scores.matthews,
            "classes": [asdict(each) for each in scores.classes],
            "confusion": [list(row) for row in scores.confusion],
        }

    def statistics_of(
        self, examples: Sequence[LabeledRow], lines: Sequence[str], facts: ClassifyFacts
    ) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each example counts."""
        if facts.is_multi_label:
            return multi_label.statistics(examples, lines, facts)
        ids = facts.label_ids
        return label_statistics([ids[each.label] for each in examples], [ids[line] for line in lines], len(ids))

    def error(self, example: LabeledRow, line: str, confidence: float) -> ErrorExample:
        """Return a wrong prediction, lists of labels as text."""
        error = super().error(example, line, confidence)
        if example.labels is None:
            return error
        label, predicted = (" | ".join(parse_json(each)) or "(none)" for each in (error.label, error.predicted))
        return replace(error, label=label, predicted=predicted)

    def checks(self) -> Sequence[Check]:
        """Return the checks of the numbers of examples, of lists of labels, and of texts that several sets share."""
        from regard.tasks.classify.checks import classify_checks

        return *super().checks(), *classify_checks()

    def usage_of(self, record: RunRecord) -> tuple[Operation, ...]:
        """Return the operations of a run's model: the call of a multi-label model gives all labels."""
        operations = super().usage_of(record)
        if record.settings.plain.get("problem_type") != MULTI_LABEL:
            return operations
        return tuple(replace(each, call=each.call.replace(").label", ").labels")) for each in operations)

    def decoding(self, facts: ClassifyFacts) -> dict[str, float]:
        """Return the threshold of a multi-label model."""
        return {"threshold": facts.threshold} if facts.is_multi_label else {}

    def evaluate(
        self, pipeline: Classifier, chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return the metrics of a model on a set; a threshold replaces the checkpoint's."""
        threshold = options.threshold if isinstance(options, ClassifyEvaluation) else None
        check_threshold(threshold, pipeline.facts, chosen.name)
        evaluation = super().evaluate(pipeline.with_threshold(threshold), chosen, options, progress)
        return replace(evaluation, decode_defaults=self.decoding(pipeline.facts))

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> Classifier:
        """Return a classifier."""
        return Classifier(bundle)


def _renamed(row: LabeledRow, names: Mapping[str, str]) -> LabeledRow:
    """Return a row with its labels under other names."""
    if row.labels is None:
        return row._replace(label=names[row.label])
    labels = tuple(sorted(names[label] for label in row.labels))
    return row._replace(label=label_list(labels), labels=labels)


TASK = Classify()

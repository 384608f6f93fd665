"""The base of fine-tuning tasks: reading, encoding, prediction and scoring of examples for a model with a head."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from regard.data.settings.examples import ExampleSource
from regard.data.sources.lines import lines_hash
from regard.metrics.bootstrap import Statistic
from regard.models.base.settings import HeadSettings, ModelSettings
from regard.pipelines.head_scores import Scores, head_outputs
from regard.progress import SILENT, Progress
from regard.tasks.contract import Task
from regard.tasks.declarations import Check, Context, EvaluateOptions, LossCurve
from regard.tasks.evaluation import Evaluation
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.finetune.planning import fine_tuning_defaults
from regard.tasks.finetune.predictions import ErrorExample, HeadReports, Predictions, ScoreName
from regard.tasks.finetune.records import ExampleReportRecord, HeadFacts, HeadScores
from regard.tasks.finetune.schema import settings_of
from regard.tasks.finetune.settings import FineTuneSettings, Pooling
from regard.tasks.planning.inputs import DROPOUT, Default, Doubt, PlanInput
from regard.tasks.record import RunRecord

if TYPE_CHECKING:
    import torch

    from regard.checkpoint.bundle import Bundle
    from regard.tasks.data import EvalSet, Prepared, SampleLoss
    from regard.tasks.finetune.data import ExampleSets

E = TypeVar("E")
F = TypeVar("F", bound=HeadFacts)
P = TypeVar("P", bound=HeadPipeline[Any, Any, Any])

Columns = Mapping[str, Any]
"""The columns of a table, as settings name them."""
Settings = FineTuneSettings[ModelSettings]


class HeadTask(HeadReports, Task[Settings, "ExampleSets", P], Generic[E, F, P]):
    """Examples of one kind (E), the facts of a model for them (F) and its pipeline (P)."""

    facts: ClassVar[type[HeadFacts]]
    head: ClassVar[
        Literal["classification", "regression", "multiple-choice", "token-classification", "extractive-qa"]
    ]
    score_names: ClassVar[tuple[ScoreName, ...]]
    """The main scores of a set, the most important first."""
    unit: ClassVar[str] = "example"
    no_examples: ClassVar[str] = "no example has both a text and a label."
    """The error message for a set without any usable example."""
    truncation: ClassVar[str] = "the end of each is left out"
    """The treatment of an example that is too long, for the warning."""
    run_settings: ClassVar[Any]
    """The schema of a run, generic in the model's settings."""
    shows_imbalance: ClassVar[bool] = False
    """Warn of a label that is much more frequent than another."""

    report = ExampleReportRecord
    scores = HeadScores
    score_note = "Brackets: 95 % intervals by bootstrap over the set."
    counted = ("examples", "examples")
    doubts = (Doubt("train.learning_rate", (0.33, 3.0)), Doubt("train.examples_per_update", (0.5, 2.0)), DROPOUT)
    loss_curve = LossCurve("label", "label")

    @abstractmethod
    def read(self, source: Any, progress: Progress, columns: Columns) -> tuple[list[E], dict[str, Any]]:
        """Return the examples of a source, in order, and the columns of its table.

        `columns` are those of the training set: they are preferred where the source has them.
        """

    @abstractmethod
    def reason_to_drop(self, example: E) -> str | None:
        """Return why an example is dropped; None: it is kept."""

    def reason_not_to_train(self, example: E) -> str | None:
        """Return why an example can only be evaluated on; None: it can be trained on."""
        return None

    @abstractmethod
    def texts(self, example: E) -> tuple[str, ...]:
        """Return the texts of an example, which identify it."""

    @abstractmethod
    def target(self, example: E) -> str:
        """Return the true label as a line of text."""

    def accepted(self, example: E) -> frozenset[str]:
        """Return the labels of which each is true: two examples contradict each other that have none in common."""
        return frozenset((self.target(example),))

    def vocabulary(self, example: E) -> tuple[str, ...]:
        """Return the texts that a tokenizer is trained on."""
        return self.texts(example)

    def labels(self, train: Sequence[E], name: str) -> list[str]:
        """Return all labels, in order; none where targets are not labels."""
        return []

    def label_counts(self, examples: Sequence[E]) -> Counter[str]:
        """Return how often each label is the true one; empty where targets are not counted."""
        return Counter(self.target(each) for each in examples)

    def baseline(self, examples: Sequence[E], encoded: Any) -> dict[str, float]:
        """Return the validation metrics of the best constant prediction; empty: a model is not compared with it."""
        from regard.tasks.baseline import label_baseline

        return label_baseline(self.label_counts(examples))

    @abstractmethod
    def learn(
        self, settings: Settings, train: Sequence[E], labels: Sequence[str], pretrained: "Bundle | None"
    ) -> dict[str, Any]:
        """Return the facts that a new model stores, learned from the training set and the settings."""

    def adapt(self, name: str, examples: Sequence[E], bundle: "Bundle", progress: Progress) -> list[E]:
        """Return examples adapted to a model of another library, whose config holds few facts."""
        return list(examples)

    def check_rows(self, name: str, examples: Sequence[E], facts: F) -> None:
        """Refuse a set that is not of the kind a model was trained on."""

    def outputs(self, facts: F) -> int:
        """Return the number of outputs of the head."""
        return 1

    def head_settings(self, facts: F, dropout: float, pooling: Pooling) -> HeadSettings:
        """Return the settings of the head."""
        return HeadSettings(kind=self.head, outputs=self.outputs(facts), dropout=dropout, pooling=pooling)

    def losses(self, scores: "torch.Tensor", labels: "torch.Tensor") -> "torch.Tensor":
        """Return the losses of the outputs of the head, one a row or their sum; labels of NO_LABEL have none."""
        from regard.objectives.head import label_losses

        return label_losses(scores, labels)

    @abstractmethod
    def encode(self, examples: Sequence[E], bundle: "Bundle", progress: Progress = SILENT) -> Any:
        """Return examples as ids."""

    @abstractmethod
    def predictions(self, examples: Sequence[E], encoded: Any, outputs: list[Scores], facts: F) -> Predictions:
        """Return the predictions decoded from the outputs of the head."""

    @abstractmethod
    def compute_metrics(self, examples: Sequence[E], predictions: Predictions, facts: F) -> dict[str, Any]:
        """Return all metrics of this task as plain values."""

    @abstractmethod
    def statistics_of(self, examples: Sequence[E], lines: Sequence[str], facts: F) -> dict[str, Statistic]:
        """Return metrics of predicted lines as functions of how often each example counts (for the bootstrap)."""

    def is_correct(self, example: E, line: str) -> bool:
        """Return whether a prediction is correct."""
        return line == self.target(example)

    def error(self, example: E, line: str, confidence: float) -> ErrorExample:
        """Return a wrong prediction for cards and reports."""
        return ErrorExample(list(self.texts(example)), self.target(example), line, confidence)

    def calibrate(self, examples: Sequence[E], predictions: Predictions, bundle: "Bundle") -> Predictions:
        """Fit decoding parameters (a threshold) on the validation set, if any; return the updated predictions."""
        return predictions

    def errors(self, examples: Sequence[E], predictions: Predictions, count: int) -> list[ErrorExample]:
        """Return wrong predictions, the most confident first."""
        pairs = zip(examples, predictions.lines, strict=True)
        wrong = [row for row, pair in enumerate(pairs) if not self.is_correct(*pair)]
        rows = sorted(wrong, key=lambda row: -predictions.confidence[row])[:count]
        return [self.error(examples[row], predictions.lines[row], predictions.confidence[row]) for row in rows]

    def decoding(self, facts: F) -> dict[str, Any]:
        """Return the settings that predictions depend on besides the model."""
        return {}

    def predict(
        self,
        bundle: "Bundle",
        model: Any,
        examples: Sequence[E],
        encoded: Any,
        device: "torch.device",
        limit: int,
        progress: Progress = SILENT,
    ) -> Predictions:
        """Return a model's predictions for examples."""
        outputs = head_outputs(model, encoded, device, limit, progress)
        return self.predictions(examples, encoded, outputs, self.read_facts(bundle))

    def read_facts(self, bundle: "Bundle") -> F:
        """Return the facts of a model, typed."""
        return self.facts.read(bundle)  # type: ignore[return-value]

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return a hash of the texts, and one of the true labels."""
        sources = lines_hash("\t".join(self.texts(each)).replace("\n", " ") for each in chosen.rows)
        targets = lines_hash(self.target(each).replace("\n", " ") for each in chosen.rows)
        return {"sources": sources, "references": [targets]}

    def settings(self, model: type[ModelSettings]) -> type[Settings]:
        """Return the schema of a run; an encoder's tokenizer is BERT's by default."""
        return settings_of(self.run_settings, model)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of fine-tuning, or of training a head and its body from scratch."""
        metrics = self.metrics_of(plan.settings)  # type: ignore[arg-type]
        return fine_tuning_defaults(plan, next(each.key for each in metrics if each.is_validated))

    def load_data(self, settings: Settings, context: Context) -> "ExampleSets":
        """Return the examples."""
        from regard.tasks.finetune.prepare import load_examples

        return load_examples(self, settings, context)

    def build(self, settings: Settings, data: "ExampleSets", context: Context) -> "Bundle":
        """Return the model with its head."""
        from regard.tasks.finetune.prepare import build_bundle

        return build_bundle(self, settings, data, context)

    def prepare(
        self, settings: Settings, data: "ExampleSets", bundle: "Bundle", context: Context
    ) -> "Prepared[ExampleSets]":
        """Return the examples encoded as updates, objective, validation, test sets and report."""
        from regard.tasks.finetune.prepare import prepare_examples

        return prepare_examples(self, settings, data, bundle, context)

    def checks(self) -> Sequence[Check]:
        """Return the checks of the numbers of examples."""
        from regard.tasks.finetune.checks import example_findings, quick_findings

        return (Check("sizes", example_findings, quick_findings),)

    def file_hashes(self, settings: Settings) -> dict[str, str]:
        """Return the SHA-256 of the files of examples."""
        from regard.tasks.finetune.data import example_files

        return example_files(settings.data)

    def eval_sets(
        self, pipeline: P, source: ExampleSource | None, record: RunRecord | None, folder: Path, progress: Progress
    ) -> "dict[str, EvalSet]":
        """Return the examples at a source, or the test sets of a run (its validation set where it has none)."""
        from regard.tasks.finetune.data import example_sets

        return example_sets(self, self.read_facts(pipeline.bundle), source, record, progress)

    def adapted(self, pipeline: P, chosen: "EvalSet", progress: Progress) -> "EvalSet":
        """Return a set adapted to a model of another library."""
        return replace(chosen, rows=self.adapt(chosen.name, chosen.rows, pipeline.bundle, progress), encoded=None)

    def evaluate(
        self, pipeline: P, chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return the metrics of a model on a set, with intervals and its most confident errors."""
        from regard.tasks.finetune.evaluate import evaluate_examples

        return evaluate_examples(self, pipeline, chosen, progress)

    def sample_loss(self, pipeline: P, record: RunRecord, examples: int) -> "SampleLoss":
        """Return the loss of the labels of validation examples."""
        from regard.tasks.finetune.evaluate import sample_examples

        return sample_examples(self, pipeline, record, examples)

    def statistics(self, pipeline: P, chosen: "EvalSet", outputs: Sequence[str]) -> dict[str, Statistic]:
        """Return the metrics of predicted lines as functions of how often each example counts."""
        from regard.tasks.finetune.evaluate import output_statistics

        return output_statistics(self, pipeline.bundle, chosen, outputs)

    def plan(self, prepared: "Prepared[ExampleSets]") -> dict[str, Any]:
        """Return the number of labels, and the sizes of the data."""
        return {"labels": len(prepared.data.labels) or None} | prepared.report.plan

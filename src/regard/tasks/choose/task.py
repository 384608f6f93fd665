"""The task `choose`: multiple choice among continuations of a context."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.examples import ChoiceSource
from regard.data.sources.memory import LABEL, LIST, TEXT
from regard.data.sources.multiple_choice import MultipleChoiceRow, read_choices_with_columns
from regard.metrics.bootstrap import Statistic
from regard.models.base.family import Kind
from regard.pipelines.head_scores import Scores, mean_nll, softmax
from regard.progress import SILENT, Progress
from regard.tasks.choose.pipeline import ChoiceOptions, ChoiceResult, ChoiceRow, MultipleChoice, encode_choice_rows
from regard.tasks.choose.settings import ChooseSettings
from regard.tasks.declarations import InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.finetune.base import Columns, HeadTask, Settings
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.finetune.records import HeadFacts
from regard.tasks.settings import FINE_TUNING_RATES

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.labeled import EncodedExamples

KINDS: tuple[Kind, ...] = ("causal-lm", "encoder")


class Choose(HeadTask[MultipleChoiceRow, HeadFacts, MultipleChoice]):
    """Multiple choice: each example has its own choices."""

    name, preset, head = "choose", "gpt-tiny", "multiple-choice"
    wording = Wording("a multiple-choice model", "multiple-choice models", "--data FILE")
    files = TaskFiles(HeadFacts, KINDS, ("multiple-choice",))
    facts, run_settings, source = HeadFacts, ChooseSettings, ChoiceSource
    metrics = (
        Metric("accuracy", "accuracy", is_validated=True),
        Metric("majority_baseline", "majority baseline"),
    )
    rows = ({"context": TEXT, "choices": LIST, "label": LABEL},)
    score_note = (
        f"{HeadTask.score_note} The majority baseline is the accuracy of guessing; the loss is in nats per example."
    )
    score_names = (ScoreName("accuracy", "accuracy %"),)
    operations = (
        Operation(
            "choose",
            "Choose among continuations.",
            ChoiceRow,
            ("context", "choices"),
            ChoiceOptions,
            ChoiceResult,
            arguments="CONTEXT CHOICE CHOICE",
            example='"a context" "one continuation" "another"',
            call='chooser("a context", ["one continuation", "another"]).choice',
            variable="chooser",
        ),
    )
    init_from = InitFrom({kind: FINE_TUNING_RATES[kind] for kind in KINDS}, has_new_head=True)
    truncation = "the beginning of each context is left out"

    def read(
        self, source: ChoiceSource, progress: Progress, columns: Columns
    ) -> tuple[list[MultipleChoiceRow], dict[str, Any]]:
        """Return the examples of a source, and the columns of contexts, choices and labels."""
        return read_choices_with_columns(source, progress, usual=columns)

    def reason_to_drop(self, example: MultipleChoiceRow) -> str | None:
        """Return why an example is dropped: its context is empty."""
        return None if example.context else "empty"

    def texts(self, example: MultipleChoiceRow) -> tuple[str, ...]:
        """Return the context and the choices, sorted: their order does not matter."""
        return (example.context, *sorted(example.choices))

    def label_counts(self, examples: Sequence[MultipleChoiceRow]) -> Counter[str]:
        """Return how often the correct choice has each index."""
        return Counter(str(each.label) for each in examples)

    def baseline(self, examples: Sequence[MultipleChoiceRow], encoded: "EncodedExamples") -> dict[str, float]:
        """Return the loss of predicting all choices alike."""
        return {"loss": float(np.mean([np.log(len(each.choices)) for each in examples]))}

    def vocabulary(self, example: MultipleChoiceRow) -> tuple[str, ...]:
        """Return the context and the choices."""
        return (example.context, *example.choices)

    def target(self, example: MultipleChoiceRow) -> str:
        """Return the correct choice."""
        return " ".join(example.choices[example.label].split())

    def learn(
        self,
        settings: Settings,
        train: Sequence[MultipleChoiceRow],
        labels: Sequence[str],
        pretrained: "Bundle | None",
    ) -> dict[str, Any]:
        """Return no facts: every example has its own choices."""
        return {}

    def encode(
        self, examples: Sequence[MultipleChoiceRow], bundle: "Bundle", progress: Progress = SILENT
    ) -> "EncodedExamples":
        """Return examples as ids."""
        return encode_choice_rows(bundle, examples, progress)

    def predictions(
        self,
        examples: Sequence[MultipleChoiceRow],
        encoded: "EncodedExamples",
        outputs: list[Scores],
        facts: HeadFacts,
    ) -> Predictions:
        """Return the most probable choices."""
        probabilities = [softmax(each) for each in outputs]
        chosen = [row.choices[int(each.argmax())] for row, each in zip(examples, probabilities, strict=True)]
        lines = [" ".join(choice.split()) for choice in chosen]
        confidence = [float(each.max()) for each in probabilities]
        return Predictions(lines, confidence, mean_nll(probabilities, encoded.labels))

    def compute_metrics(
        self, examples: Sequence[MultipleChoiceRow], predictions: Predictions, facts: HeadFacts
    ) -> dict[str, Any]:
        """Return the accuracy, and that of random guessing."""
        correct = [self.is_correct(*each) for each in zip(examples, predictions.lines, strict=True)]
        return {
            "accuracy": sum(correct) / len(correct),
            "majority_baseline": float(np.mean([1 / len(each.choices) for each in examples])),
        }

    def statistics_of(
        self, examples: Sequence[MultipleChoiceRow], lines: Sequence[str], facts: HeadFacts
    ) -> dict[str, Statistic]:
        """Return the accuracy as a function of how often each example counts."""
        correct = np.array([self.is_correct(*each) for each in zip(examples, lines, strict=True)], float)
        return {"accuracy": lambda counts: float(counts @ correct / counts.sum())}

    def error(self, example: MultipleChoiceRow, line: str, confidence: float) -> ErrorExample:
        """Return a wrong choice after its context."""
        return ErrorExample([example.context], self.target(example), line, confidence)

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> MultipleChoice:
        """Return a multiple-choice pipeline."""
        return MultipleChoice(bundle)


TASK = Choose()

"""Contexts with several ways to go on, one of them right: the task `choose`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.labeled import EncodedExamples, encode_choices
from regard.data.settings.examples import ChoiceSource
from regard.data.sources.multiple_choice import MultipleChoiceRow, read_choices_with_columns
from regard.metrics.bootstrap import Statistic
from regard.pipelines.head_scores import Scores, softmax, surprise
from regard.progress import SILENT, Progress
from regard.tasks.finetune.base import Answers, Facts, HeadTask, Mistake, ScoreName
from regard.tasks.finetune.pipeline import frame_of


class ChoiceShape(HeadTask[MultipleChoiceRow]):
    """A context, and choices of its own for each example."""

    head = "multiple-choice"
    watched = ("accuracy",)
    scores = (ScoreName("accuracy", "accuracy %"),)
    loses = "the beginning of the context of each is not read"

    def read(
        self, place: ChoiceSource, progress: Progress, usual: Facts
    ) -> tuple[list[MultipleChoiceRow], dict[str, Any]]:
        """Return the examples of a place, and the columns of contexts, choices and answers."""
        return read_choices_with_columns(place, progress, usual=usual)

    def reason_to_drop(self, example: MultipleChoiceRow) -> str | None:
        """Return why nothing can be learned from an example."""
        return None if example.context else "empty"

    def texts(self, example: MultipleChoiceRow) -> tuple[str, ...]:
        """Return the context and the choices, in any order the same."""
        return (example.context, *sorted(example.choices))

    def counted(self, examples: Sequence[MultipleChoiceRow]) -> Counter[str]:
        """Return how often the right choice is the first, the second and so on."""
        return Counter(str(each.label) for each in examples)

    def vocabulary(self, example: MultipleChoiceRow) -> tuple[str, ...]:
        """Return the context and the choices."""
        return (example.context, *example.choices)

    def answer(self, example: MultipleChoiceRow) -> str:
        """Return the right choice."""
        return " ".join(example.choices[example.label].split())

    def facts(
        self, settings: Any, train: Sequence[MultipleChoiceRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return nothing: every example brings its own choices."""
        return {}

    def encode(
        self, examples: Sequence[MultipleChoiceRow], bundle: Bundle, progress: Progress = SILENT
    ) -> EncodedExamples:
        """Return examples as ids."""
        limit = int(bundle.facts["max_length"])
        found = encode_choices(examples, bundle.tokenizers["tokenizer"], frame_of(bundle), limit, progress)
        return replace(found, looks_at_all=bundle.head is not None and bundle.head.pooling != "token")

    def say(
        self, examples: Sequence[MultipleChoiceRow], encoded: EncodedExamples, scores: list[Scores], facts: Facts
    ) -> Answers:
        """Return the likeliest choices."""
        found = [softmax(each) for each in scores]
        chosen = [example.choices[int(each.argmax())] for example, each in zip(examples, found, strict=True)]
        lines = [" ".join(choice.split()) for choice in chosen]
        return Answers(lines, [float(each.max()) for each in found], surprise(found, encoded.labels))

    def figures(self, examples: Sequence[MultipleChoiceRow], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return the accuracy, and that of taking any of the choices."""
        right = [self.is_right(*each) for each in zip(examples, answers.lines, strict=True)]
        return {
            "accuracy": sum(right) / len(right),
            "majority_baseline": float(np.mean([1 / len(each.choices) for each in examples])),
        }

    def statistics(
        self, examples: Sequence[MultipleChoiceRow], lines: Sequence[str], facts: Facts
    ) -> dict[str, Statistic]:
        """Return the accuracy as a function of how often each example counts."""
        right = np.array([self.is_right(*each) for each in zip(examples, lines, strict=True)], float)
        return {"accuracy": lambda counts: float(counts @ right / counts.sum())}

    def mistake(self, example: MultipleChoiceRow, line: str, confidence: float) -> Mistake:
        """Return a wrong choice behind its context."""
        return Mistake([example.context], self.answer(example), line, confidence)

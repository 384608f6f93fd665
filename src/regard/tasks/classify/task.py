"""Texts, or pairs of them, with a label or a number: the tasks `classify` and `regress`."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from regard.checkpoint.bundle import Bundle
from regard.config.parsing import parse_integer
from regard.data.encoding.labeled import EncodedExamples
from regard.data.settings.examples import LabelSource
from regard.data.sources.labeled import LabeledRow, read_labeled_with_columns
from regard.errors import ConfigError, DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.classification import label_scores, label_statistics
from regard.metrics.regression import number_scores, number_statistics
from regard.models.heads import HeadSettings
from regard.pipelines.head_scores import Scores, softmax, surprise
from regard.progress import SILENT, Progress
from regard.tasks.finetune.base import Answers, Facts, HeadTask, Mistake, ScoreName
from regard.tasks.finetune.pipeline import encode_pairs

FEW_LABELS = 20
"""Up to here nobody wonders how many labels there are."""


class TextHeadTask(HeadTask[LabeledRow]):
    """Texts, or pairs of them."""

    is_number: ClassVar[bool] = False

    def read(self, place: LabelSource, progress: Progress, usual: Facts) -> tuple[list[LabeledRow], dict[str, Any]]:
        """Return the examples of a place, and the columns of their texts and labels."""
        return read_labeled_with_columns(place, progress, self.is_number, usual)

    def reason_to_drop(self, example: LabeledRow) -> str | None:
        """Return why nothing can be learned from an example."""
        return "empty" if not all(example.texts) else "without a label" if example.label == "" else None

    def texts(self, example: LabeledRow) -> tuple[str, ...]:
        """Return the one text, or both."""
        return example.texts

    def answer(self, example: LabeledRow) -> str:
        """Return the label."""
        return example.label

    def facts(
        self, settings: Any, train: Sequence[LabeledRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return how many texts an example has, and how they are read."""
        texts, pairs = len(train[0].texts), settings.pair_encoding or "cross-encoder"
        if pairs != "cross-encoder" and texts == 1:
            raise ConfigError(
                f'pair_encoding: "{pairs}" is for two texts an example, and these have one; leave it out.'
            )
        return {"texts": texts, "pair_encoding": pairs}

    def adapt(
        self, name: str, examples: Sequence[LabeledRow], facts: dict[str, Any], progress: Progress
    ) -> list[LabeledRow]:
        """Return the same examples: whether they are pairs is theirs to say."""
        count = len(examples[0].texts)
        if count != facts["texts"]:
            progress.warn(f"{name}: it has {count} texts an example; the model is given them so.")
            facts["texts"] = count
        return list(examples)

    def check(self, name: str, examples: Sequence[LabeledRow], facts: Facts) -> None:
        """Refuse other numbers of texts than the training set has."""
        for each in examples:
            if len(each.texts) != facts["texts"]:
                raise DataError(
                    f"{name}: it has {len(each.texts)} texts an example, but the training set has {facts['texts']}; "
                    f"name the columns of both."
                )


class LabelShape(TextHeadTask):
    """Texts with one of several labels."""

    head = "classification"
    watched = ("accuracy", "macro_f1", "matthews")
    scores = (
        ScoreName("accuracy", "accuracy %"),
        ScoreName("macro_f1", "macro F1 %"),
        ScoreName("matthews", "Matthews %"),
    )

    def labels(self, train: Sequence[LabeledRow], name: str) -> list[str]:
        """Return the labels that occur, by number or by the alphabet; what can be no labels is refused."""
        found = {each.label for each in train}
        if len(found) == 1:
            raise DataError(
                f'{name}: every example has the label "{found.pop()}", so there is nothing to tell apart; '
                f"give some of another."
            )
        if len(found) > max(FEW_LABELS, len(train) // 2):
            raise DataError(
                f"{name}: {len(found):,} labels for {len(train):,} examples are no labels; name the right column "
                f"with label_column."
            )
        numbers = {each: parse_integer(each) for each in found}
        if any(number is None or number < 0 for number in numbers.values()):
            return sorted(found)
        return sorted(found, key=lambda each: (numbers[each], each))

    def facts(
        self, settings: Any, train: Sequence[LabeledRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return the labels too."""
        return {"labels": list(labels)} | super().facts(settings, train, labels, start)

    def check(self, name: str, examples: Sequence[LabeledRow], facts: Facts) -> None:
        """Refuse labels that nobody has learned."""
        super().check(name, examples, facts)
        check_labels(name, Counter(each.label for each in examples), facts["labels"])

    def adapt(
        self, name: str, examples: Sequence[LabeledRow], facts: dict[str, Any], progress: Progress
    ) -> list[LabeledRow]:
        """Return labels by their names where they are numbers, as the model has names for those."""
        found, known = super().adapt(name, examples, facts, progress), facts["labels"]
        names = {label: _name_at(label, known) for label in sorted({each.label for each in found})}
        if any(label in known or meant is None for label, meant in names.items()):
            return found
        progress.say(f"{name}: {', '.join(f'{label} is {meant}' for label, meant in names.items())}.")
        return [each._replace(label=str(names[each.label])) for each in found]

    def outputs(self, facts: Facts) -> int:
        """Return how many labels there are."""
        return len(facts["labels"])

    def encode(self, examples: Sequence[LabeledRow], bundle: Bundle, progress: Progress = SILENT) -> EncodedExamples:
        """Return examples as ids."""
        numbers = numbered(bundle.facts)
        return encode_pairs(
            bundle, [each.texts for each in examples], [numbers[each.label] for each in examples], progress
        )

    def say(
        self, examples: Sequence[LabeledRow], encoded: EncodedExamples, scores: list[Scores], facts: Facts
    ) -> Answers:
        """Return the likeliest labels."""
        found = [softmax(each) for each in scores]
        lines = [facts["labels"][int(each.argmax())] for each in found]
        return Answers(lines, [float(each.max()) for each in found], surprise(found, encoded.labels))

    def figures(self, examples: Sequence[LabeledRow], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return accuracy, F1 and Matthews' correlation, and the figures of each label."""
        numbers = numbered(facts)
        truth, said = [numbers[each.label] for each in examples], [numbers[line] for line in answers.lines]
        found = label_scores(truth, said, facts["labels"])
        return {
            "accuracy": found.accuracy,
            "majority_baseline": Counter(truth).most_common(1)[0][1] / len(truth),
            "micro_f1": found.micro_f1,
            "macro_f1": found.macro_f1,
            "matthews": found.matthews,
            "classes": [asdict(each) for each in found.classes],
            "confusion": [list(row) for row in found.confusion],
        }

    def statistics(self, examples: Sequence[LabeledRow], lines: Sequence[str], facts: Facts) -> dict[str, Statistic]:
        """Return figures as functions of how often each example counts."""
        numbers = numbered(facts)
        truth = [numbers[each.label] for each in examples]
        return label_statistics(truth, [numbers[line] for line in lines], len(numbers))


class NumberShape(TextHeadTask):
    """Texts, or pairs, with a number."""

    head = "regression"
    is_number = True
    watched = ("spearman", "pearson", "mean_squared_error")
    scores = (ScoreName("spearman", "Spearman %"), ScoreName("pearson", "Pearson %"))

    def counted(self, examples: Sequence[LabeledRow]) -> Counter[str]:
        """Return nothing: numbers are no labels."""
        return Counter()

    def facts(
        self, settings: Any, train: Sequence[LabeledRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return the units in which the head counts: from the mean on in spreads, or from the lowest to the highest.

        Pairs are read apart where the model to begin with was made to give texts vectors.
        """
        gives_vectors = start is not None and start.facts.get("embed", {}).get("pooling") == "mean"
        if settings.pair_encoding is None and len(train[0].texts) == 2 and gives_vectors:
            settings = settings.model_copy(update={"pair_encoding": "bi-encoder"})
        found = super().facts(settings, train, labels, start)
        numbers = [float(each.label) for each in train]
        low, high = min(numbers), max(numbers)
        if low == high or not statistics.pstdev(numbers):
            where = settings.data.train.name
            raise DataError(
                f"{where}: every example has the number {low:g}, so there is nothing to tell apart; give others."
            )
        if found["pair_encoding"] == "bi-encoder":
            return found | {"center": low, "spread": high - low}
        return found | {"center": statistics.fmean(numbers), "spread": statistics.pstdev(numbers)}

    def head_settings(self, facts: Facts, dropout: float, pooling: Any) -> HeadSettings:
        """Return the head of a model: none is needed to say how alike two vectors are."""
        if facts["pair_encoding"] == "bi-encoder":
            return HeadSettings(kind="similarity", outputs=1, dropout=dropout, pooling="mean")
        return super().head_settings(facts, dropout, pooling)

    def encode(self, examples: Sequence[LabeledRow], bundle: Bundle, progress: Progress = SILENT) -> EncodedExamples:
        """Return examples as ids, their numbers in the units of the head."""
        facts = bundle.facts
        labels = [(float(each.label) - facts["center"]) / facts["spread"] for each in examples]
        return encode_pairs(bundle, [each.texts for each in examples], labels, progress)

    def say(
        self, examples: Sequence[LabeledRow], encoded: EncodedExamples, scores: list[Scores], facts: Facts
    ) -> Answers:
        """Return the numbers that were said."""
        found = np.array([float(each) for each in scores])
        loss = float(np.mean((found - encoded.labels) ** 2))
        return Answers([repr(facts["center"] + facts["spread"] * each) for each in found.tolist()], [], loss)

    def figures(self, examples: Sequence[LabeledRow], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return correlations and errors."""
        return asdict(number_scores([float(each.label) for each in examples], list(map(float, answers.lines))))

    def statistics(self, examples: Sequence[LabeledRow], lines: Sequence[str], facts: Facts) -> dict[str, Statistic]:
        """Return figures as functions of how often each example counts."""
        return number_statistics([float(each.label) for each in examples], list(map(float, lines)))

    def mistakes(self, examples: Sequence[LabeledRow], answers: Answers, count: int) -> list[Mistake]:
        """Return the numbers that are furthest off."""
        pairs = [(float(each.label), float(line)) for each, line in zip(examples, answers.lines, strict=True)]
        furthest = sorted(range(len(pairs)), key=lambda row: -abs(pairs[row][0] - pairs[row][1]))[:count]
        return [
            Mistake(list(examples[row].texts), f"{right:.4g}", f"{said:.4g}", None)
            for row in furthest
            for right, said in [pairs[row]]
        ]


def check_labels(name: str, found: Counter[str], known: Sequence[str]) -> None:
    """Refuse labels that do not occur in the training set."""
    for label, count in found.items():
        if label not in known:
            times = "once" if count == 1 else f"{count:,} times"
            raise DataError(
                f'{name}: the label "{label}" ({times}) does not occur in the training set '
                f"({', '.join(known)}); add examples of it there, or leave these out."
            )


def _name_at(label: str, known: Sequence[str]) -> str | None:
    """Return the name of the label that goes by a number; None if it is none of theirs."""
    number = parse_integer(label)
    return None if number is None or not 0 <= number < len(known) else known[number]


def numbered(facts: Facts) -> dict[str, int]:
    """Return the number of each label."""
    return {label: number for number, label in enumerate(facts["labels"])}

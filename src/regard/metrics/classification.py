"""Labels that were said against those that are true, by scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic


@dataclass(frozen=True)
class ClassScore:
    """How well one label is told: precision, recall and their harmonic mean, over `count` examples that have it."""

    label: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class ClassificationScores:
    """Figures over all examples; the rows of `confusion` are true labels, its columns what was said."""

    accuracy: float
    micro_f1: float
    """F1 over all decisions together; where each example has one label, it is the accuracy."""
    macro_f1: float
    """The mean F1 of all labels that are true or said anywhere, each of them counting the same."""
    matthews: float
    """The correlation of truth and answer (Matthews, 1975): at most 1; 0 for any kind of guessing."""
    classes: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]


def label_scores(truth: Sequence[int], said: Sequence[int], labels: Sequence[str]) -> ClassificationScores:
    """Return the scores of what was said, labels given by their numbers."""
    from sklearn import metrics  # takes a second to load

    numbers = range(len(labels))
    figures = metrics.precision_recall_fscore_support(truth, said, labels=list(numbers), zero_division=0.0)
    confusion = metrics.confusion_matrix(truth, said, labels=list(numbers)).tolist()
    precision, recall, f1, count = (each.tolist() for each in figures)
    return ClassificationScores(
        float(metrics.accuracy_score(truth, said)),
        float(metrics.f1_score(truth, said, average="micro", zero_division=0.0)),
        float(metrics.f1_score(truth, said, average="macro", zero_division=0.0)),
        float(metrics.matthews_corrcoef(truth, said)) if len({*truth, *said}) > 1 else 0.0,
        tuple(ClassScore(labels[n], precision[n], recall[n], f1[n], int(count[n])) for n in numbers),
        tuple(map(tuple, confusion)),
    )


def label_statistics(truth: Sequence[int], said: Sequence[int], labels: int) -> dict[str, Statistic]:
    """Return accuracy, macro F1 and Matthews' correlation as functions of how often each example counts."""
    pairs = np.asarray(truth) * labels + np.asarray(said)

    def confusion(counts: Numbers) -> Numbers:
        return np.bincount(pairs, counts, minlength=labels * labels).reshape(labels, labels).astype(float)

    def accuracy(counts: Numbers) -> float:
        found = confusion(counts)
        return float(found.trace() / found.sum())

    def macro_f1(counts: Numbers) -> float:
        found = confusion(counts)
        sizes = found.sum(0) + found.sum(1)
        return float((2 * found.diagonal()[sizes > 0] / sizes[sizes > 0]).mean())

    def matthews(counts: Numbers) -> float:
        found = confusion(counts)
        size, (true, told) = found.sum(), (found.sum(1), found.sum(0))
        spread = (size**2 - true @ true) * (size**2 - told @ told)
        return float((found.trace() * size - true @ told) / np.sqrt(spread)) if spread > 0 else 0.0

    return {"accuracy": accuracy, "macro_f1": macro_f1, "matthews": matthews}

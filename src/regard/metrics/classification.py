"""Classification metrics by scikit-learn: accuracy, F1, Matthews correlation and the confusion matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic


@dataclass(frozen=True)
class ClassScore:
    """Precision, recall and F1 of one label, which `count` examples have."""

    label: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class ClassificationScores:
    """Metrics over all examples; the rows of `confusion` are true labels, its columns predicted ones."""

    accuracy: float
    macro_f1: float
    """The unweighted mean F1 of all labels that occur as true or predicted ones."""
    matthews: float
    """Matthews correlation coefficient (Matthews, 1975): at most 1; 0 for any guessing."""
    classes: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]


def label_scores(truth: Sequence[int], predicted: Sequence[int], labels: Sequence[str]) -> ClassificationScores:
    """Return the metrics of predicted labels; labels are given by their indices."""
    from sklearn import metrics  # takes a second to load

    numbers = range(len(labels))
    by_class = metrics.precision_recall_fscore_support(truth, predicted, labels=list(numbers), zero_division=0.0)
    confusion = metrics.confusion_matrix(truth, predicted, labels=list(numbers)).tolist()
    precision, recall, f1, count = (each.tolist() for each in by_class)
    return ClassificationScores(
        float(metrics.accuracy_score(truth, predicted)),
        float(metrics.f1_score(truth, predicted, average="macro", zero_division=0.0)),
        float(metrics.matthews_corrcoef(truth, predicted)) if len({*truth, *predicted}) > 1 else 0.0,
        tuple(ClassScore(labels[n], precision[n], recall[n], f1[n], int(count[n])) for n in numbers),
        tuple(map(tuple, confusion)),
    )


def label_statistics(truth: Sequence[int], predicted: Sequence[int], labels: int) -> dict[str, Statistic]:
    """Return accuracy, macro F1 and Matthews correlation as functions of how often each example counts."""
    pairs = np.asarray(truth) * labels + np.asarray(predicted)

    def confusion(counts: Numbers) -> Numbers:
        return np.bincount(pairs, counts, minlength=labels * labels).reshape(labels, labels).astype(float)

    def accuracy(counts: Numbers) -> float:
        matrix = confusion(counts)
        return float(matrix.trace() / matrix.sum())

    def macro_f1(counts: Numbers) -> float:
        matrix = confusion(counts)
        sizes = matrix.sum(0) + matrix.sum(1)
        return float((2 * matrix.diagonal()[sizes > 0] / sizes[sizes > 0]).mean())

    def matthews(counts: Numbers) -> float:
        matrix = confusion(counts)
        size, (rows, columns) = matrix.sum(), (matrix.sum(1), matrix.sum(0))
        spread = (size**2 - rows @ rows) * (size**2 - columns @ columns)
        return float((matrix.trace() * size - rows @ columns) / np.sqrt(spread)) if spread > 0 else 0.0

    return {"accuracy": accuracy, "macro_f1": macro_f1, "matthews": matthews}

"""Multi-label metrics by scikit-learn: micro and macro F1, exact match, and the F1 of each label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.metrics.bootstrap import Numbers, Statistic
from regard.metrics.classification import ClassScore

Matrix = NDArray[np.bool_]
"""(N, C) True where an example has a label."""


@dataclass(frozen=True)
class MultiLabelScores:
    """Metrics over all examples."""

    micro_f1: float
    """F1 over the decisions on all labels together."""
    macro_f1: float
    """The unweighted mean F1 of all labels that occur as true or predicted ones."""
    exact_match: float
    """Subset accuracy: the fraction of examples all of whose labels are right, and no other is predicted."""
    classes: tuple[ClassScore, ...]


def label_matrix(rows: Sequence[Sequence[str]], labels: Sequence[str]) -> Matrix:
    """Return the labels of rows as a matrix (N, C); unknown ones raise a KeyError."""
    ids = {label: number for number, label in enumerate(labels)}
    matrix = np.zeros((len(rows), len(labels)), bool)
    for row, chosen in enumerate(rows):
        matrix[row, [ids[label] for label in chosen]] = True
    return matrix


def multi_label_scores(truth: Matrix, predicted: Matrix, labels: Sequence[str]) -> MultiLabelScores:
    """Return the metrics of predicted sets of labels."""
    from sklearn import metrics  # takes a second to load

    by_label = metrics.precision_recall_fscore_support(
        truth, predicted, labels=list(range(len(labels))), average=None, zero_division=0.0
    )
    precision, recall, f1, count = (each.tolist() for each in by_label)
    classes = (ClassScore(labels[n], precision[n], recall[n], f1[n], int(count[n])) for n in range(len(labels)))
    values = {
        name: statistic(np.ones(len(truth))) for name, statistic in multi_label_statistics(truth, predicted).items()
    }
    return MultiLabelScores(**values, classes=tuple(classes))


def multi_label_statistics(truth: Matrix, predicted: Matrix) -> dict[str, Statistic]:
    """Return micro F1, macro F1 and exact match as functions of how often each example counts."""
    hits = (truth & predicted).astype(float)
    sizes = truth.astype(float) + predicted
    exact = (truth == predicted).all(1).astype(float)

    def micro_f1(counts: Numbers) -> float:
        return float(2 * (counts @ hits).sum() / max(1.0, (counts @ sizes).sum()))

    def macro_f1(counts: Numbers) -> float:
        right, either = 2 * (counts @ hits), counts @ sizes
        return float((right[either > 0] / either[either > 0]).mean()) if either.any() else 0.0

    return {
        "micro_f1": micro_f1,
        "macro_f1": macro_f1,
        "exact_match": lambda counts: float(counts @ exact / counts.sum()),
    }

"""Labels that were said against those that are true, by scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ClassScore:
    """How well one label is told: precision, recall and their harmonic mean, over `count` examples that have it."""

    label: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class LabelScores:
    """Figures over all examples; the rows of `confusion` are true labels, its columns what was said."""

    accuracy: float
    macro_f1: float
    """The mean F1 of all labels that are true or said anywhere, each of them counting the same."""
    classes: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]


def label_scores(truth: Sequence[int], said: Sequence[int], labels: Sequence[str]) -> LabelScores:
    """Return the scores of what was said, labels given by their numbers."""
    from sklearn import metrics  # takes a second to load

    numbers = range(len(labels))
    figures = metrics.precision_recall_fscore_support(truth, said, labels=list(numbers), zero_division=0.0)
    confusion = metrics.confusion_matrix(truth, said, labels=list(numbers)).tolist()
    precision, recall, f1, count = (each.tolist() for each in figures)
    return LabelScores(
        float(metrics.accuracy_score(truth, said)),
        float(metrics.f1_score(truth, said, average="macro", zero_division=0.0)),
        tuple(ClassScore(labels[n], precision[n], recall[n], f1[n], count[n]) for n in numbers),
        tuple(map(tuple, confusion)),
    )

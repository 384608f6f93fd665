"""Multi-label classification: predictions, metrics and baselines of texts with several labels or none."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from regard.config.parsing import parse_json
from regard.data.sources.labeled import LabeledRow, label_list
from regard.metrics.bootstrap import Statistic
from regard.metrics.multi_label import Matrix, label_matrix, multi_label_scores, multi_label_statistics
from regard.pipelines.head_scores import Scores, sigmoid
from regard.tasks.classify.pipeline import assigned
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.classify.settings import THRESHOLD
from regard.tasks.finetune.predictions import Predictions


def targets(examples: Sequence[LabeledRow], labels: Sequence[str]) -> list[list[float]]:
    """Return 1 for each label of an example, and 0 for the others."""
    return label_matrix([each.labels or () for each in examples], labels).astype(float).tolist()


def predictions(targets: Scores, outputs: Sequence[Scores], facts: ClassifyFacts) -> Predictions:
    """Return the labels that reach the threshold; the confidence is the mean probability of all decisions."""
    logits = np.stack(outputs) if len(outputs) else np.zeros((0, len(facts.labels)))
    probabilities = sigmoid(logits)
    lines = [label_list(assigned(dict(zip(facts.labels, row)), facts.threshold)) for row in probabilities.tolist()]
    decided = np.where(probabilities >= facts.threshold, probabilities, 1 - probabilities)
    losses = np.logaddexp(0.0, np.where(targets > 0, -logits, logits))
    return Predictions(lines, decided.mean(1).tolist(), float(losses.mean()))


def metrics(examples: Sequence[LabeledRow], lines: Sequence[str], facts: ClassifyFacts) -> dict[str, object]:
    """Return micro and macro F1, exact match, and the metrics of each label."""
    scores = multi_label_scores(*_matrices(examples, lines, facts), facts.labels)
    return asdict(scores) | {"classes": [asdict(each) for each in scores.classes]}


def statistics(examples: Sequence[LabeledRow], lines: Sequence[str], facts: ClassifyFacts) -> dict[str, Statistic]:
    """Return the metrics as functions of how often each example counts."""
    return multi_label_statistics(*_matrices(examples, lines, facts))


def _matrices(examples: Sequence[LabeledRow], lines: Sequence[str], facts: ClassifyFacts) -> tuple[Matrix, Matrix]:
    predicted = [parse_json(line) for line in lines]
    if not all(isinstance(each, list) for each in predicted):
        raise ValueError("a line is no list of labels")
    return label_matrix([each.labels or () for each in examples], facts.labels), label_matrix(predicted, facts.labels)


def baseline(examples: Sequence[LabeledRow]) -> dict[str, float]:
    """Return the micro F1 and the loss of always predicting the frequency of each label."""
    labels = sorted({label for each in examples for label in each.labels or ()})
    if not labels:
        return {}
    truth = label_matrix([each.labels or () for each in examples], labels)
    rates = truth.mean(0)
    entropy = -(rates * np.log(rates) + (1 - rates) * np.log(np.maximum(1 - rates, np.finfo(float).tiny)))
    constant = np.broadcast_to(rates >= THRESHOLD, truth.shape)
    return {
        "micro_f1": multi_label_statistics(truth, constant)["micro_f1"](np.ones(len(truth))),
        "loss": float(entropy.mean()),
    }

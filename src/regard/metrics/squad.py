"""SQuAD metrics: exact match and word F1 of answer spans (Rajpurkar et al., 2016 and 2018)."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalized(answer: str) -> str:
    """Return an answer in lower case without punctuation, articles and extra white space."""
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def exact_match(predicted: str, gold: Sequence[str]) -> float:
    """Return 1.0 if an answer equals a gold answer, else 0.0; without gold answers, the empty one is correct."""
    return float(any(normalized(predicted) == each for each in _normalized_gold(gold)))


def overlap_f1(predicted: str, gold: Sequence[str]) -> float:
    """Return the best word F1 of an answer over all gold answers."""
    return max(_f1(normalized(predicted).split(), each.split()) for each in _normalized_gold(gold))


def _normalized_gold(answers: Sequence[str]) -> list[str]:
    """Return the normalized gold answers; [""] if none is left (an article alone is none)."""
    return [each for each in map(normalized, answers) if each] or [""]


def _f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    same = (Counter(predicted) & Counter(gold)).total()
    return 2 * same / (len(predicted) + len(gold))


@dataclass(frozen=True)
class AnswerScores:
    """Exact match and mean F1 of all questions, of the answerable and of the unanswerable ones, between 0 and 1."""

    exact_match: float
    f1: float
    answerable: int
    answerable_exact_match: float
    answerable_f1: float
    unanswerable: int
    unanswerable_exact_match: float


def answer_scores(predicted: Sequence[str], gold: Sequence[Sequence[str]]) -> AnswerScores:
    """Return the metrics of answers; an empty answer predicts that there is none."""
    exact = np.array([exact_match(one, all) for one, all in zip(predicted, gold, strict=True)])
    f1 = np.array([overlap_f1(one, all) for one, all in zip(predicted, gold, strict=True)])
    has = np.array([any(all) for all in gold], bool)
    mean = lambda values: float(values.mean()) if len(values) else 0.0
    return AnswerScores(
        mean(exact), mean(f1), int(has.sum()), mean(exact[has]), mean(f1[has]), int((~has).sum()), mean(exact[~has])
    )


def answer_statistics(predicted: Sequence[str], gold: Sequence[Sequence[str]]) -> dict[str, Statistic]:
    """Return exact match and F1 as functions of how often each question counts."""

    def mean_of(values: list[float]) -> Statistic:
        each = np.asarray(values, float)

        def mean(counts: Numbers) -> float:
            return float(counts @ each / counts.sum())

        return mean

    return {
        "exact_match": mean_of([exact_match(one, all) for one, all in zip(predicted, gold, strict=True)]),
        "f1": mean_of([overlap_f1(one, all) for one, all in zip(predicted, gold, strict=True)]),
    }


def best_threshold(predicted: Sequence[str], gold: Sequence[Sequence[str]], margins: Sequence[float]) -> float:
    """Return the null-score threshold that maximizes the mean F1: an answer is given up to this margin.

    `margins` are null scores minus answer scores; of equally good thresholds the one nearest to 0 is returned.
    """
    gain = np.array(
        [overlap_f1(one, all) - overlap_f1("", all) for one, all in zip(predicted, gold, strict=True)], float
    )
    order = np.argsort(margins, kind="stable")
    ordered = np.asarray(margins, float)[order]
    totals = np.concatenate([[0.0], np.cumsum(gain[order])])  # F1 gained by giving the first n answers
    # A threshold lies half-way between two margins; equal margins cannot be separated.
    between = np.concatenate([[ordered[0] - 1], (ordered[:-1] + ordered[1:]) / 2, [ordered[-1] + 1]])
    possible = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    best = totals[possible].max()
    good = between[possible & (totals >= best - 1e-9)]
    return float(min(good, key=abs))

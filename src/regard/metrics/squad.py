"""Answers that are spans of a text: exact match and F1 as SQuAD counts them (Rajpurkar et al., 2016 and 2018)."""

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
    """Return an answer without case, punctuation, articles and superfluous space."""
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def exact_match(said: str, right: Sequence[str]) -> float:
    """Return 1 if an answer is one of the right ones, else 0; no right one means that none is to be given."""
    return float(any(normalized(said) == each for each in _right(right)))


def overlap_f1(said: str, right: Sequence[str]) -> float:
    """Return the best F1 of an answer's words against those of a right one."""
    return max(_f1(normalized(said).split(), each.split()) for each in _right(right))


def _right(answers: Sequence[str]) -> list[str]:
    """Return the right answers as they are compared; what is nothing but an article is none."""
    return [each for each in map(normalized, answers) if each] or [""]


def _f1(said: list[str], right: list[str]) -> float:
    if not said or not right:
        return float(said == right)
    same = (Counter(said) & Counter(right)).total()
    return 2 * same / (len(said) + len(right))


@dataclass(frozen=True)
class AnswerScores:
    """Shares of exact answers and mean F1: of all questions, of those that have an answer, and of those without."""

    exact_match: float
    f1: float
    answerable: int
    answerable_exact_match: float
    answerable_f1: float
    unanswerable: int
    unanswerable_exact_match: float


def answer_scores(said: Sequence[str], right: Sequence[Sequence[str]]) -> AnswerScores:
    """Return the scores of answers; an empty one says that there is none."""
    exact = np.array([exact_match(one, all) for one, all in zip(said, right, strict=True)])
    f1 = np.array([overlap_f1(one, all) for one, all in zip(said, right, strict=True)])
    has = np.array([any(all) for all in right], bool)
    mean = lambda values: float(values.mean()) if len(values) else 0.0
    return AnswerScores(
        mean(exact), mean(f1), int(has.sum()), mean(exact[has]), mean(f1[has]), int((~has).sum()), mean(exact[~has])
    )


def answer_statistics(said: Sequence[str], right: Sequence[Sequence[str]]) -> dict[str, Statistic]:
    """Return exact match and F1 as functions of how often each question counts."""

    def mean_of(values: list[float]) -> Statistic:
        each = np.asarray(values, float)

        def mean(counts: Numbers) -> float:
            return float(counts @ each / counts.sum())

        return mean

    return {
        "exact_match": mean_of([exact_match(one, all) for one, all in zip(said, right, strict=True)]),
        "f1": mean_of([overlap_f1(one, all) for one, all in zip(said, right, strict=True)]),
    }


def best_threshold(said: Sequence[str], right: Sequence[Sequence[str]], margins: Sequence[float]) -> float:
    """Return the margin up to which an answer is best given: the one that makes the mean F1 greatest.

    `margins` say by how much the score of having no answer exceeds that of the answer; where several thresholds
    are as good, the one nearest to 0 is taken.
    """
    gain = np.array([overlap_f1(one, all) - overlap_f1("", all) for one, all in zip(said, right, strict=True)], float)
    order = np.argsort(margins, kind="stable")
    places = np.asarray(margins, float)[order]
    totals = np.concatenate([[0.0], np.cumsum(gain[order])])  # of the first so many answers given
    # A threshold lies half-way between two margins; equal ones cannot be parted.
    between = np.concatenate([[places[0] - 1], (places[:-1] + places[1:]) / 2, [places[-1] + 1]])
    possible = np.concatenate([[True], places[1:] > places[:-1], [True]])
    best = totals[possible].max()
    good = between[possible & (totals >= best - 1e-9)]
    return float(min(good, key=abs))

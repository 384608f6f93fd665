"""Scores of texts against references; knows nothing of torch."""

from regard.metrics.answers import AnswerScores, answer_scores, answer_statistics, best_threshold
from regard.metrics.bleu import BleuExplanation, Match, Precision, explain_bleu, matches, ngrams
from regard.metrics.entities import Entity, SpanScores, as_iob2, entities, find_scheme, span_scores, span_statistics
from regard.metrics.labels import ClassScore, LabelScores, label_scores, label_statistics
from regard.metrics.numbers import NumberScores, number_scores, number_statistics
from regard.metrics.report import BleuReport, score_bleu
from regard.metrics.resampling import Interval, Statistic, bootstrap
from regard.metrics.significance import Difference, paired, paired_bootstrap
from regard.metrics.translation import Score, paper_scores, translation_scores

__all__ = [
    "AnswerScores",
    "BleuExplanation",
    "BleuReport",
    "ClassScore",
    "Difference",
    "Entity",
    "Interval",
    "LabelScores",
    "Match",
    "NumberScores",
    "Precision",
    "Score",
    "SpanScores",
    "Statistic",
    "answer_scores",
    "answer_statistics",
    "as_iob2",
    "best_threshold",
    "bootstrap",
    "entities",
    "explain_bleu",
    "find_scheme",
    "label_scores",
    "label_statistics",
    "matches",
    "ngrams",
    "number_scores",
    "number_statistics",
    "paired",
    "paired_bootstrap",
    "paper_scores",
    "score_bleu",
    "span_scores",
    "span_statistics",
    "translation_scores",
]

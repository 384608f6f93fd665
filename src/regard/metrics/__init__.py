"""Scores of texts against references; knows nothing of torch."""

from regard.metrics.bleu import BleuExplanation, Match, Precision, explain_bleu, matches, ngrams
from regard.metrics.labels import ClassScore, LabelScores, label_scores
from regard.metrics.report import BleuReport, score_bleu
from regard.metrics.significance import Difference, Interval, paired_bootstrap
from regard.metrics.translation import Score, paper_scores, translation_scores

__all__ = [
    "BleuExplanation",
    "BleuReport",
    "ClassScore",
    "Difference",
    "Interval",
    "LabelScores",
    "Match",
    "Precision",
    "Score",
    "explain_bleu",
    "label_scores",
    "matches",
    "ngrams",
    "paired_bootstrap",
    "paper_scores",
    "score_bleu",
    "translation_scores",
]

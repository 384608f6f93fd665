"""Scores of texts against references; knows nothing of torch."""

from regard.metrics.bleu import BleuExplanation, Match, Precision, explain_bleu, matches, ngrams
from regard.metrics.report import BleuReport, score_bleu
from regard.metrics.translation import Score, translation_scores

__all__ = [
    "BleuExplanation",
    "BleuReport",
    "Match",
    "Precision",
    "Score",
    "explain_bleu",
    "matches",
    "ngrams",
    "score_bleu",
    "translation_scores",
]

"""A checkpoint and raw text in, answers out."""

from regard.pipelines.answers import Alternative, Candidate, PairScore, Translation, perplexity
from regard.pipelines.classifier import Chooser, Classification, Classifier, Decision
from regard.pipelines.load import load, load_tokenizer, read_task
from regard.pipelines.translator import Translator

__all__ = [
    "Alternative",
    "Candidate",
    "Chooser",
    "Classification",
    "Classifier",
    "Decision",
    "PairScore",
    "Translation",
    "Translator",
    "load",
    "load_tokenizer",
    "perplexity",
    "read_task",
]

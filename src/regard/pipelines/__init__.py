"""A checkpoint and raw text in, answers out."""

from regard.pipelines.load import load, load_tokenizer
from regard.pipelines.translator import Candidate, Translation, Translator

__all__ = ["Candidate", "Translation", "Translator", "load", "load_tokenizer"]

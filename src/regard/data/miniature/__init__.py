"""The miniature world: German and English sentences of the same meaning, made by a grammar written for them.

A meaning is drawn at random and then said in both languages; a German sentence has exactly one English one.
"""

from regard.data.miniature.english import in_english
from regard.data.miniature.german import in_german
from regard.data.miniature.holdout import held_out_cases, held_out_pairs
from regard.data.miniature.lexicon import lemmas
from regard.data.miniature.meaning import Meaning
from regard.data.miniature.measures import NounCase, WordPair, depth, noun_cases, word_pairs
from regard.data.miniature.splits import SPLITS, Sentence, generate, pairs, sentences

__all__ = [
    "SPLITS",
    "Meaning",
    "NounCase",
    "Sentence",
    "WordPair",
    "depth",
    "generate",
    "held_out_cases",
    "held_out_pairs",
    "in_english",
    "in_german",
    "lemmas",
    "noun_cases",
    "pairs",
    "sentences",
    "word_pairs",
]

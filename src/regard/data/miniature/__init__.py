"""The miniature world: German and English sentences of the same meaning, made by a grammar written for them.

A meaning is drawn at random and then said in both languages; a German sentence has exactly one English one.
Stories are meanings in an order that hangs together, said in English.
"""

from regard.data.miniature.english import in_english
from regard.data.miniature.german import in_german
from regard.data.miniature.holdout import held_out_cases, held_out_pairs, stable_fraction
from regard.data.miniature.lexicon import lemmas
from regard.data.miniature.meaning import Meaning
from regard.data.miniature.measures import NounCase, WordPair, depth, noun_cases, word_pairs
from regard.data.miniature.splits import SPLITS, Sentence, generate, pairs, sentences
from regard.data.miniature.stories import (
    PROBE_KINDS,
    STORY_SPLITS,
    Probe,
    Story,
    documents,
    stories,
    story,
    story_probes,
)

__all__ = [
    "PROBE_KINDS",
    "SPLITS",
    "STORY_SPLITS",
    "Meaning",
    "NounCase",
    "Probe",
    "Sentence",
    "Story",
    "WordPair",
    "depth",
    "documents",
    "generate",
    "held_out_cases",
    "held_out_pairs",
    "in_english",
    "in_german",
    "lemmas",
    "noun_cases",
    "pairs",
    "sentences",
    "stable_fraction",
    "stories",
    "story",
    "story_probes",
    "word_pairs",
]

"""The miniature world: German and English sentences of the same meaning, made by a grammar written for them.

A meaning is drawn at random and then said in both languages; a German sentence has exactly one English one.
Stories are meanings in an order that hangs together, said in English. Examples with labels, tags, answers and scores
are made of these and of phrase books.
"""

from regard.miniature.english import in_english
from regard.miniature.examples import (
    ENTITY_KINDS,
    ENTITY_SPLITS,
    EXAMPLE_SPLITS,
    SENSES,
    UNSEEN_NAMES,
    Paraphrase,
    Review,
    StoryQuestion,
    TaggedSentence,
    WordSense,
    entities,
    likeness,
    opinions,
    paraphrases,
    questions,
    reviews,
    word_senses,
)
from regard.miniature.german import in_german
from regard.miniature.holdout import held_out_cases, held_out_pairs, stable_fraction
from regard.miniature.lexicon import lemmas
from regard.miniature.meaning import Meaning
from regard.miniature.measures import NounCase, WordPair, depth, noun_cases, word_pairs
from regard.miniature.places import TEXT_SETS, Place, place, texts
from regard.miniature.splits import SPLITS, SentencePair, TranslationPair, generate, pairs, sentences
from regard.miniature.stories import (
    PROBE_KINDS,
    STORY_SPLITS,
    Story,
    StoryProbe,
    documents,
    stories,
    story,
    story_probes,
)

__all__ = [
    "ENTITY_KINDS",
    "ENTITY_SPLITS",
    "EXAMPLE_SPLITS",
    "PROBE_KINDS",
    "SENSES",
    "SPLITS",
    "STORY_SPLITS",
    "TEXT_SETS",
    "UNSEEN_NAMES",
    "Meaning",
    "NounCase",
    "Paraphrase",
    "Place",
    "Review",
    "SentencePair",
    "Story",
    "StoryProbe",
    "StoryQuestion",
    "TaggedSentence",
    "TranslationPair",
    "WordPair",
    "WordSense",
    "depth",
    "documents",
    "entities",
    "generate",
    "held_out_cases",
    "held_out_pairs",
    "in_english",
    "in_german",
    "lemmas",
    "likeness",
    "noun_cases",
    "opinions",
    "pairs",
    "paraphrases",
    "place",
    "questions",
    "reviews",
    "sentences",
    "stable_fraction",
    "stories",
    "story",
    "story_probes",
    "texts",
    "word_pairs",
    "word_senses",
]

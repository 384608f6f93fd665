"""Examples of the miniature world for further tasks: classification, tagging, question answering, similarity."""

from regard.miniature.examples.drawing import EXAMPLE_SPLITS
from regard.miniature.examples.entities import (
    ENTITY_KINDS,
    ENTITY_SPLITS,
    UNSEEN_NAMES,
    TaggedSentence,
    entities,
    news,
)
from regard.miniature.examples.paraphrases import Paraphrase, likeness, paraphrases, retellings
from regard.miniature.examples.questions import StoryQuestion, questions
from regard.miniature.examples.reviews import Review, opinions, reviews
from regard.miniature.examples.senses import SENSES, WordSense, word_senses

__all__ = [
    "ENTITY_KINDS",
    "ENTITY_SPLITS",
    "EXAMPLE_SPLITS",
    "SENSES",
    "UNSEEN_NAMES",
    "Paraphrase",
    "Review",
    "StoryQuestion",
    "TaggedSentence",
    "WordSense",
    "entities",
    "likeness",
    "news",
    "opinions",
    "paraphrases",
    "questions",
    "retellings",
    "reviews",
    "word_senses",
]

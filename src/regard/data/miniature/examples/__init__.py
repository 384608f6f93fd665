"""Examples of the miniature world for tasks beyond translation and running text: labels, tags, answers, likeness."""

from regard.data.miniature.examples.drawing import EXAMPLE_SPLITS
from regard.data.miniature.examples.entities import ENTITY_KINDS, ENTITY_SPLITS, UNSEEN_NAMES, Tagged, entities, news
from regard.data.miniature.examples.paraphrases import Paraphrase, likeness, paraphrases, retellings
from regard.data.miniature.examples.questions import Question, questions
from regard.data.miniature.examples.reviews import Review, opinions, reviews
from regard.data.miniature.examples.senses import SENSES, WordSense, word_senses

__all__ = [
    "ENTITY_KINDS",
    "ENTITY_SPLITS",
    "EXAMPLE_SPLITS",
    "SENSES",
    "UNSEEN_NAMES",
    "Paraphrase",
    "Question",
    "Review",
    "Tagged",
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

"""The lexicon of the miniature world: words in both languages, and what they combine with."""

from regard.miniature.lexicon.entries import (
    Adjective,
    Adverb,
    Case,
    Conjunction,
    Frame,
    Gender,
    Language,
    Lexicon,
    Modal,
    Name,
    Noun,
    Preposition,
    Verb,
)
from regard.miniature.lexicon.tables import lemmas, lexicon

__all__ = [
    "Adjective",
    "Adverb",
    "Case",
    "Conjunction",
    "Frame",
    "Gender",
    "Language",
    "Lexicon",
    "Modal",
    "Name",
    "Noun",
    "Preposition",
    "Verb",
    "lemmas",
    "lexicon",
]

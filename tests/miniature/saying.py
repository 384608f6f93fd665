"""Short ways to build a meaning by hand and to say it in both languages."""

from typing import Any

from regard.miniature import in_english, in_german
from regard.miniature.lexicon import Adverb, Conjunction, Frame, lexicon
from regard.miniature.meaning import (
    GAP,
    Circumstance,
    Clause,
    Content,
    Determiner,
    Meaning,
    NamedEntity,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Relative,
    Role,
)

WORDS = lexicon()
ME, YOU, WE, THEY = Pronoun("i"), Pronoun("you"), Pronoun("we"), Pronoun("they")
HE, SHE = Pronoun("he", "m"), Pronoun("she", "f")


def noun(german: str, determiner: Determiner = "definite", *adjectives: str, **parts: Any) -> NounPhrase:
    """A singular noun phrase with these adjectives, unless told otherwise."""
    chosen = tuple(WORDS.adjectives[word] for word in adjectives)
    return NounPhrase(WORDS.nouns[german], determiner, adjectives=chosen, **parts)


def nouns(german: str, determiner: Determiner = "definite", *adjectives: str, **parts: Any) -> NounPhrase:
    """A plural noun phrase."""
    return noun(german, determiner, *adjectives, number="plural", **parts)


def name(german: str) -> NamedEntity:
    return NamedEntity(WORDS.names[german])


def adverb(german: str) -> Adverb:
    return WORDS.adverbs[german]


def word(german: str) -> Conjunction:
    return WORDS.conjunctions[german]


def clause(verb: str, subject: Nominal | None = None, frame: Frame | None = None, **parts: Any) -> Clause:
    return Clause(WORDS.verb(verb, frame), subject, **parts)


def where(german: str, preposition: str = "", **parts: Any) -> PrepositionalPhrase:
    """At, in or on a place: by its own preposition, or by the one asked for."""
    options = WORDS.nouns[german].where
    chosen = next(p for p in options if preposition in ("", p.german))
    return PrepositionalPhrase(chosen, noun(german, **parts))


def whither(german: str) -> PrepositionalPhrase:
    preposition = WORDS.nouns[german].whither
    assert preposition is not None
    return PrepositionalPhrase(preposition, noun(german))


def about(verb: str, value: Nominal) -> PrepositionalPhrase:
    """The complement of a verb that governs a preposition."""
    preposition = WORDS.verb(verb, "about").governs
    assert preposition is not None
    return PrepositionalPhrase(preposition, value)


def phrase(kind: str, value: Nominal, german: str = "") -> PrepositionalPhrase:
    return PrepositionalPhrase(WORDS.preposition(kind, german), value)


def content(conjunction: str, inner: Clause) -> Content:
    return Content(word(conjunction), inner)


def circumstance(conjunction: str, inner: Clause, is_first: bool = False) -> Circumstance:
    return Circumstance(word(conjunction), inner, is_first)


def relative(role: Role, verb: str, frame: Frame | None = None, **parts: Any) -> Relative:
    """A relative clause; a subject or an object that is its gap need not be given."""
    if role in ("subject", "object", "recipient"):
        parts[role] = GAP
    return Relative(role, Clause(WORDS.verb(verb, frame), **parts))


def said(statement: Clause, **more: Any) -> tuple[str, str]:
    """A sentence in German and in English."""
    meaning = Meaning(statement, **more)
    return in_german(meaning), in_english(meaning)

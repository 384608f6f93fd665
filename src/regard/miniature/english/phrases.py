"""English phrases below the clause: noun phrases, prepositional phrases, times and predicates."""

from functools import cache
from typing import Final

from regard.miniature.english.morphology import EnglishAgreement, article, comparative, noun_form, numeral
from regard.miniature.lexicon import Adverb
from regard.miniature.meaning import (
    Ago,
    Clock,
    Coordination,
    Determiner,
    Lasting,
    NamedEntity,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    Time,
)

_DETERMINERS: Final[dict[Determiner, str]] = {
    "definite": "the", "each": "every", "many": "many", "some": "some", "no": "no",
    "my": "my", "your": "your", "our": "our", "his": "his", "her": "her", "their": "their", "whose": "whose",
}  # fmt: skip
_OBJECT_PRONOUNS: Final = {
    "i": "me", "you": "you", "he": "him", "she": "her", "it": "it", "we": "us", "they": "them",
}  # fmt: skip
_AGREEMENTS: Final[dict[str, EnglishAgreement]] = {"i": "i", "you": "they", "we": "they", "they": "they"}


def is_person(value: Nominal) -> bool:
    """Whether English asks `who` of it, not `which`."""
    return type(value) is NounPhrase and "person" in value.noun.classes


def agreement_of(subject: Nominal | None) -> EnglishAgreement:
    """The person and number that a subject asks of its verb."""
    if isinstance(subject, NounPhrase):
        return "they" if subject.number == "plural" else "he"
    if isinstance(subject, Pronoun):
        return _AGREEMENTS.get(subject.person, "he")
    return "they" if isinstance(subject, Coordination) else "he"


def _possessive(text: str, is_plural: bool) -> str:
    return text + ("'" if is_plural and text.endswith("s") else "'s")


def noun_phrase(phrase: NounPhrase, denied: bool = False) -> str:
    """A noun phrase without its relative clause; a denied one is in the scope of `not`."""
    noun, possessor, determiner = phrase.noun, phrase.possessor, phrase.determiner
    words: list[str] = []
    of = ""
    if type(possessor) is NamedEntity:
        words.append(possessor.name.english + "'s")
    elif type(possessor) is NounPhrase and "living" in possessor.noun.classes:
        words.append(_possessive(noun_phrase(possessor), possessor.number == "plural"))
    elif determiner == "demonstrative":
        words.append("this" if phrase.number == "singular" else "these")
    elif determiner == "indefinite":
        if phrase.number == "plural" or "mass" in noun.classes:
            words += ["any"] if denied else []
        else:
            words.append("")  # the article, once the next word is known
    else:
        words.append(_DETERMINERS[determiner])
        of = f" of {noun_phrase(possessor)}" if type(possessor) is NounPhrase else ""
    if phrase.numeral:
        words.append(numeral(phrase.numeral))
    if phrase.degree:
        words.append(phrase.degree.english)
    words.extend([adjective.english for adjective in phrase.adjectives])
    words.append(noun_form(noun, phrase.number))
    if not words[0]:
        words[0] = article(words[1])
    return " ".join(words) + of


def nominal(value: Nominal, is_subject: bool = False, denied: bool = False) -> str:
    """Anything that can fill a role, without a relative clause."""
    if type(value) is NounPhrase:
        return noun_phrase(value, denied)
    if type(value) is Pronoun:
        if not is_subject:
            return _OBJECT_PRONOUNS[value.person]
        return "I" if value.person == "i" else value.person
    if type(value) is NamedEntity:
        return value.name.english
    if type(value) is Coordination:
        return f"{nominal(value.first)} and {nominal(value.second)}"
    raise TypeError(f"{value!r} has no words of its own")


def prepositional(phrase: PrepositionalPhrase) -> str:
    """A prepositional phrase without a relative clause."""
    if phrase.preposition.kind == "means" and type(phrase.nominal) is NounPhrase:
        return f"by {phrase.nominal.noun.english}"
    return f"{phrase.preposition.english} {nominal(phrase.nominal)}".lstrip()


@cache
def _measured(time: Ago | Lasting) -> str:
    phrase = NounPhrase(time.unit, "indefinite", "plural", numeral=time.count)
    if time.count == 1:
        phrase = NounPhrase(time.unit, "indefinite")
    return f"{noun_phrase(phrase)} ago" if isinstance(time, Ago) else f"for {noun_phrase(phrase)}"


def time_phrase(time: Time) -> str:
    """When something happens, or for how long."""
    if isinstance(time, Adverb):
        return time.english
    if isinstance(time, PrepositionalPhrase):
        return prepositional(time)
    if isinstance(time, Clock):
        return f"at {'one' if time.hour == 1 else numeral(time.hour)} o'clock"
    return _measured(time)


def predicate(value: Quality | NounPhrase) -> str:
    """What a copula says of its subject."""
    if isinstance(value, NounPhrase):
        return noun_phrase(value)
    word = value.adjective.english
    if value.comparison and value.standard:
        standard = nominal(value.standard)
        if value.comparison == "more":
            return f"{comparative(value.adjective)} than {standard}"
        return f"as {word} as {standard}"
    return f"{value.degree.english} {word}" if value.degree else word

"""German phrases below the clause: noun phrases, prepositional phrases, times and predicates."""

from functools import cache

from regard.miniature.german.morphology import (
    BARE,
    CONTRACTIONS,
    DETERMINERS,
    PRONOUNS,
    Agreement,
    Slot,
    noun_forms,
    numeral,
)
from regard.miniature.lexicon import Adverb, Case
from regard.miniature.meaning import (
    Ago,
    Clock,
    Coordination,
    Determiner,
    Lasting,
    NamedEntity,
    Nominal,
    NounPhrase,
    Number,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    Time,
)

_AGREEMENTS: dict[str, Agreement] = {"i": "1s", "you": "2s", "we": "1p", "they": "3p"}


def slot_of(phrase: NounPhrase) -> Slot:
    """The column of the inflection tables that a noun phrase takes its endings from."""
    return "p" if phrase.number == "plural" else phrase.noun.gender


def agreement_of(subject: Nominal | None) -> Agreement:
    """The person and number that a subject asks of its verb."""
    if isinstance(subject, NounPhrase):
        return "3p" if subject.number == "plural" else "3s"
    if isinstance(subject, Pronoun):
        return _AGREEMENTS.get(subject.person, "3s")
    return "3p" if isinstance(subject, Coordination) else "3s"


def noun_phrase(phrase: NounPhrase, case: Case, determiner: Determiner | None = None, whose: str = "") -> str:
    """A noun phrase without its relative clause; `determiner` stands in for the phrase's own."""
    noun, possessor = phrase.noun, phrase.possessor
    determiner = determiner or phrase.determiner
    slot = slot_of(phrase)
    word, ending = DETERMINERS[determiner][case][slot]
    if type(possessor) is NamedEntity:
        word, ending = possessor.name.german + "s", BARE[case][slot].ending
    elif determiner == "indefinite" and "mass" in noun.classes:
        word, ending = BARE[case][slot]
    elif whose:
        word = whose
    words = [word] if word else []
    if phrase.numeral:
        words.append(numeral(phrase.numeral))
    if phrase.degree:
        words.append(phrase.degree.german)
    for adjective in phrase.adjectives:
        words.append(adjective.stem + ending)
    words.append(noun_forms(noun)[phrase.number][case])
    if type(possessor) is NounPhrase:
        words.append(noun_phrase(possessor, "genitive"))
    return " ".join(words)


def nominal(value: Nominal, case: Case, determiner: Determiner | None = None) -> str:
    """Anything that can fill a role, in the case of that role, without a relative clause."""
    if type(value) is NounPhrase:
        return noun_phrase(value, case, determiner)
    if type(value) is Pronoun:
        return PRONOUNS[value.gender or value.person][case]
    if type(value) is NamedEntity:
        return value.name.german
    if type(value) is Coordination:
        return f"{nominal(value.first, case)} und {nominal(value.second, case)}"
    raise TypeError(f"{value!r} has no words of its own")


def prepositional(phrase: PrepositionalPhrase) -> str:
    """A prepositional phrase without a relative clause; the preposition takes in the article if it can."""
    text = f"{phrase.preposition.german} {nominal(phrase.nominal, phrase.preposition.case)}"
    inner = phrase.nominal
    if type(inner) is not NounPhrase or inner.determiner != "definite" or inner.relative:
        # "im Haus", but "in dem Haus, das ...": a noun that is being picked out keeps its article.
        return text
    preposition, article, rest = text.split(" ", 2)
    contracted = CONTRACTIONS.get(f"{preposition} {article}")
    return f"{contracted} {rest}" if contracted else text


@cache
def _measured(time: Ago | Lasting) -> str:
    case: Case = "dative" if isinstance(time, Ago) else "accusative"
    number: Number = "singular" if time.count == 1 else "plural"
    phrase = NounPhrase(time.unit, "indefinite", number, numeral=None if time.count == 1 else time.count)
    words = noun_phrase(phrase, case)
    return f"vor {words}" if isinstance(time, Ago) else f"{words} lang"


def time_phrase(time: Time) -> str:
    """When something happens, or for how long."""
    if isinstance(time, Adverb):
        return time.german
    if isinstance(time, PrepositionalPhrase):
        return prepositional(time)
    if isinstance(time, Clock):
        return f"um {'ein' if time.hour == 1 else numeral(time.hour)} Uhr"
    return _measured(time)


def predicate(value: Quality | NounPhrase, determiner: Determiner | None = None) -> tuple[str, str]:
    """What a copula says of its subject, and what it is compared with, which may stand apart."""
    if isinstance(value, NounPhrase):
        return noun_phrase(value, "nominative", determiner), ""
    word = value.adjective.german
    if value.comparison and value.standard:
        standard = nominal(value.standard, "nominative")
        if value.comparison == "more":
            return value.adjective.comparative, f"als {standard}"
        return f"so {word}", f"wie {standard}"
    return f"{value.degree.german} {word}" if value.degree else word, ""

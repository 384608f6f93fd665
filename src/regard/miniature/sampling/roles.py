"""Sampling of the arguments of a verb."""

from typing import Final

from regard.miniature.lexicon import Case, Frame, Noun, Verb
from regard.miniature.meaning import NamedEntity, Nominal, NounPhrase, Number, Person, PrepositionalPhrase, Pronoun
from regard.miniature.sampling.adverbials import goal, position
from regard.miniature.sampling.choices import Draw, RandomChoice, names_of, nouns_for, nouns_of
from regard.miniature.sampling.phrases import NAMES, Style, coordination, noun_phrase, owned, owner_of
from regard.miniature.sampling.predicates import fill_copula, fill_existence
from regard.miniature.sampling.setting import Parts, Setting, subject_for

FRAMES: Final[RandomChoice[Frame]] = RandomChoice(
    {
        "object": 35, "copula": 15, "alone": 12, "motion": 8, "position": 8, "about": 9, "recipient": 8,
        "dative": 6, "put": 3, "exist": 2, "weather": 1.5,
    }
)  # fmt: skip
# For a clause whose subject is given.
DEEDS: Final[RandomChoice[Frame]] = RandomChoice(
    {
        "object": 36, "copula": 20, "alone": 13, "motion": 7, "position": 8, "about": 8, "recipient": 6,
        "dative": 5, "put": 2,
    }
)  # fmt: skip


def _object_persons(subject: str) -> dict[bool, dict[str, RandomChoice[Person]]]:
    """Object pronouns that are not part of the subject, by whether the clause stands alone and by case."""
    weights: dict[Person, float] = {"i": 3, "you": 2, "we": 2}
    if subject in ("i", "we"):
        weights = {"you": 2}
    elif subject == "you":
        weights = {"i": 3, "we": 2}
    alone = weights | {"he": 2}
    # The dative of "they" is clear; its accusative, "sie", could also be "her".
    return {
        False: {"accusative": RandomChoice(weights), "dative": RandomChoice(weights)},
        True: {"accusative": RandomChoice(alone), "dative": RandomChoice(alone | {"they": 1})},
    }


_OBJECT_PERSONS: Final = {subject: _object_persons(subject) for subject in ("i", "you", "we", "")}


def fill(draw: Draw, parts: Parts, setting: Setting) -> None:
    """Fill every role that the verb asks for and that is not given yet."""
    verb: Verb = parts["verb"]
    frame = verb.frame
    if frame == "copula":
        fill_copula(draw, parts, setting)
    elif frame == "exist":
        fill_existence(draw, parts, setting)
    if frame in ("copula", "exist", "weather"):
        return
    is_free = "passive" in verb.facts and not parts.keys() & {"subject", "object", "modal"}
    if parts.get("is_passive") or (is_free and frame == "object" and draw() < 0.13):
        parts["is_passive"] = True
        _fill_agent(draw, parts, setting)
    elif "subject" not in parts:
        parts["subject"] = subject_for(draw, nouns_for(verb, "subject")(draw), setting)
    if frame == "recipient" and "recipient" not in parts:
        noun = _other_noun(draw, nouns_of("person"), parts["subject"])
        parts["recipient"] = _patient(draw, noun, "dative", parts, setting, "known")
    if frame in ("object", "dative", "recipient", "put") and "object" not in parts:
        _fill_object(draw, parts, setting)
    if "complement" not in parts:
        _fill_complement(draw, parts, setting)


def _fill_object(draw: Draw, parts: Parts, setting: Setting) -> None:
    verb: Verb = parts["verb"]
    noun = _other_noun(draw, nouns_for(verb, "object"), parts.get("subject"))
    if parts.get("is_passive"):
        number: Number | None = "plural" if "several" in verb.facts else None
        parts["object"] = noun_phrase(draw, noun, "subject", setting.fullness, number)
    elif verb.frame == "object" and draw() < 0.03 and (other := _companion_noun(draw, verb, noun)):
        parts["object"] = coordination(draw, noun, other, "object")
    else:
        style: Style = "known" if verb.frame == "dative" else "object"
        parts["object"] = _patient(draw, noun, verb.object_case, parts, setting, style)


def _companion_noun(draw: Draw, verb: Verb, noun: Noun) -> Noun | None:
    """A second object to go with a first, if both can be named in passing."""
    other = nouns_for(verb, "object")(draw)
    apart = {"unique", "person"}
    is_plain = noun.classes.isdisjoint(apart) and other.classes.isdisjoint(apart)
    return other if other is not noun and is_plain and "several" not in verb.facts else None


def _fill_agent(draw: Draw, parts: Parts, setting: Setting) -> None:
    """The doer of a passive, who is often left out and never a pronoun."""
    if draw() < 0.5:
        noun = nouns_for(parts["verb"], "subject")(draw)
        if draw() < 0.15 and "person" in noun.classes:
            parts["subject"] = NamedEntity(names_of(NAMES(draw))(draw))
        else:
            parts["subject"] = noun_phrase(draw, noun, "known", setting.fullness)


def _fill_complement(draw: Draw, parts: Parts, setting: Setting) -> None:
    verb: Verb = parts["verb"]
    if verb.frame == "about" and verb.governs:
        noun = _other_noun(draw, nouns_for(verb, "object"), parts["subject"])
        value = _patient(draw, noun, verb.governs.case, parts, setting, "known")
        parts["complement"] = PrepositionalPhrase(verb.governs, value)
    elif verb.frame == "position":
        parts["complement"] = position(draw, verb, nouns_for(verb, "target")(draw), setting.fullness)
    elif verb.frame in ("motion", "put"):
        parts["complement"] = goal(draw, verb, nouns_for(verb, "target")(draw), setting.fullness)


def _patient(draw: Draw, noun: Noun, case: Case, parts: Parts, setting: Setting, style: Style) -> Nominal:
    """An object, recipient or complement about a noun, sometimes the subject's own."""
    subject = parts.get("subject")
    if "person" in noun.classes:
        value = draw()
        if value < 0.1:
            speaker = subject.person if isinstance(subject, Pronoun) else ""
            persons = _OBJECT_PERSONS.get(speaker, _OBJECT_PERSONS[""])
            chosen = persons[setting.is_alone][case](draw)
            return Pronoun(chosen, "m" if chosen == "he" else None)
        if value < 0.2:
            return NamedEntity(names_of(NAMES(draw))(draw))
    facts = parts["verb"].facts
    phrase = noun_phrase(draw, noun, style, setting.fullness, "plural" if "several" in facts else None)
    if phrase.determiner == "indefinite" and noun.plural:
        if "general" in facts:
            # One likes apples, not an apple or four of them.
            phrase = NounPhrase(noun, "indefinite", "plural", phrase.adjectives, phrase.degree)
        elif case == "dative":
            # A bare plural hardly shows its case.
            phrase = NounPhrase(noun, "indefinite", "singular", phrase.adjectives, phrase.degree)
    # Only the first phrase after the subject can be its own without a doubt.
    if not parts.get("has_owned") and draw() < 0.16 and (owner := owner_of(subject, setting.head)):
        phrase = owned(phrase, owner)
    parts["has_owned"] = True
    return phrase


def _other_noun(draw: Draw, choice: RandomChoice[Noun], subject: Nominal | None) -> Noun:
    """A noun that is not the subject's, unless there is no other."""
    noun = choice(draw)
    for _ in range(3):
        if not isinstance(subject, NounPhrase) or subject.noun is not noun:
            break
        noun = choice(draw)
    return noun

"""Context of a clause that is sampled: tense, surrounding clauses, and perhaps its subject."""

from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from regard.miniature.lexicon import Frame, Noun, Verb, lexicon
from regard.miniature.meaning import Coordination, NamedEntity, Nominal, NounPhrase, Person, Pronoun, Tense
from regard.miniature.sampling.choices import Draw, RandomChoice, nouns_of, verbs_of, verbs_with
from regard.miniature.sampling.phrases import FULL, Fullness, coordination, noun_phrase, person

# What is known of a clause so far, by the names of the fields of Clause.
Parts = dict[str, Any]
Period = Literal["present", "past", "future"]

_WORDS = lexicon()
PERSONS: Final[RandomChoice[Person]] = RandomChoice({"i": 5, "you": 3, "he": 4, "she": 4, "we": 4, "they": 2})
SPEAKERS: Final[RandomChoice[Person]] = RandomChoice({"i": 5, "you": 3, "we": 4})
ASKED_PERSONS: Final[RandomChoice[Person]] = RandomChoice({"you": 6, "he": 2, "she": 2, "they": 2})


class Unsayable(Exception):
    """What has been drawn so far cannot be said clearly; draw again."""


class Setting(NamedTuple):
    """What its surroundings ask of a clause."""

    tense: Tense | Literal["past"] = "present"
    tense_of_states: Tense | Literal["past", ""] = ""  # for verbs that say what is, where it differs
    negation: float = 0.1
    has_modals: bool = True
    has_time: bool = True  # whether it may say when and why
    is_main: bool = False
    is_alone: bool = False  # the whole sentence, so that a pronoun cannot point to anything in it
    is_plain: bool = False  # its last phrase will carry a relative clause, so nothing may follow that
    fullness: Fullness = FULL
    richness: float = 1.0
    persons: RandomChoice[Person] = PERSONS
    around: tuple[Nominal, ...] = ()  # what the clauses around it speak of
    head: NounPhrase | None = None  # what the gap of a relative clause stands for


def period_of(tense: str) -> Period:
    """Whether a tense is about what was, is or will be."""
    return (
        "past" if tense in ("narrated", "spoken", "past", "earlier") else "future" if tense == "future" else "present"
    )


def actor_of(subject: Nominal | None, head: NounPhrase | None) -> Noun | None:
    """A noun to choose verbs for: the subject's own, the head's for a gap, a man's for an unnamed person."""
    if isinstance(subject, NounPhrase):
        return subject.noun
    if isinstance(subject, Pronoun) and subject.noun:
        return subject.noun
    if isinstance(subject, NamedEntity | Pronoun | Coordination):
        return _WORDS.nouns["Mann"]
    return head.noun if subject is not None and head else None


def choose_verb(draw: Draw, frames: RandomChoice[Frame], actor: Noun | None) -> Verb:
    """A verb of a likely frame that the actor, if there is one, can be the subject of."""
    for _ in range(12):
        frame = frames(draw)
        if actor is None:
            return verbs_of(frame)(draw)
        if frame == "copula":
            break
        if choice := verbs_with(actor, "subject", frame):
            return choice(draw)
    return _WORDS.verb("sein")


def subject_for(draw: Draw, noun: Noun, setting: Setting, style: Literal["subject", "known"] = "subject") -> Nominal:
    """A subject about a noun: a phrase, or for persons also a pronoun, a name or two persons."""
    if "person" in noun.classes:
        if value := person(draw, setting.persons):
            return value
        if draw() < 0.03:
            other = nouns_of("person")(draw)
            if other is not noun:
                return coordination(draw, noun, other, "subject")
    phrase = noun_phrase(draw, noun, style, setting.fullness)
    if phrase.determiner == "no" and not setting.is_main:
        return replace(phrase, determiner="definite")
    return phrase

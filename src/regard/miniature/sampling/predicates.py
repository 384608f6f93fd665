"""Sampling of the predicates of `be`: qualities, professions and existence."""

from dataclasses import replace
from typing import Final, Literal

from regard.miniature.lexicon import Adjective, Noun, lexicon
from regard.miniature.meaning import (
    Coordination,
    NamedEntity,
    Nominal,
    NounPhrase,
    Number,
    PrepositionalPhrase,
    Pronoun,
    Quality,
)
from regard.miniature.sampling.choices import (
    Draw,
    RandomChoice,
    adjectives_of,
    among,
    nouns_like,
    nouns_of,
    nouns_suiting,
)
from regard.miniature.sampling.phrases import Fullness, degree, noun_phrase
from regard.miniature.sampling.setting import Parts, Setting, Unsayable, actor_of, subject_for

_WORDS = lexicon()
_ADJECTIVES: Final = among(_WORDS.adjectives.values())
_COMPARISONS: Final[RandomChoice[Literal["more", "equal"]]] = RandomChoice({"more": 3, "equal": 1})
_BARE: Final = Fullness(adjectives=0.0)
_PRAISED: Final = Fullness(adjectives=1.3)
_WORKERS: Final = {sex: among(noun for noun in nouns_of("worker").items if noun.sex == sex) for sex in ("m", "f")}
# What there is, and where.
_FINDS: Final = RandomChoice(
    {("animal", "outdoors"): 4, ("plant", "outdoors"): 2, ("building", "settlement"): 3, ("food", "room"): 2}
)


def fill_copula(draw: Draw, parts: Parts, setting: Setting) -> None:
    """Say what the subject is like or what it is by profession."""
    subject = parts.get("subject")
    actor = actor_of(subject, setting.head)
    if draw() < 0.2 and (actor is None or "person" in actor.classes):
        _fill_profession(draw, parts, setting)
        return
    parts["predicate"], noun = _quality(draw, actor)
    if setting.tense == "future" and parts["predicate"].adjective.rank == 2:
        raise Unsayable("what something is made of does not change")
    if subject is None:
        # No adjective before the noun, so that none contradicts the one behind the verb.
        parts["subject"] = subject_for(draw, noun, setting._replace(fullness=_BARE), "known")


def fill_existence(draw: Draw, parts: Parts, setting: Setting) -> None:
    """Say that there is something somewhere."""
    thing, where = _FINDS(draw)
    site = nouns_of(where)(draw)
    phrase = noun_phrase(draw, nouns_of(thing)(draw), "object", setting.fullness)
    if phrase.determiner not in ("indefinite", "many", "some"):
        phrase = replace(phrase, determiner="indefinite", numeral=None, possessor=None)
    parts["object"] = phrase
    where_phrase = noun_phrase(draw, site, "place", setting.fullness, "singular")
    parts["place"] = PrepositionalPhrase(site.where[0], where_phrase)


def _quality(draw: Draw, noun: Noun | None) -> tuple[Quality, Noun]:
    """A quality and the noun it is said of, which may be given."""
    adjective: Adjective
    if noun is None:
        adjective = _ADJECTIVES(draw)
        noun = nouns_suiting(adjective)(draw)
    else:
        choice = adjectives_of(noun)
        assert choice is not None
        adjective = choice(draw)
    if adjective.comparative and draw() < 0.11 and (others := nouns_like(adjective, noun)):
        standard = noun_phrase(draw, others(draw), "known")
        if standard.determiner == "indefinite":
            standard = replace(standard, determiner="definite")
        return Quality(adjective, None, _COMPARISONS(draw), standard), noun
    return Quality(adjective, degree(draw) if adjective.comparative and draw() < 0.2 else None), noun


def _fill_profession(draw: Draw, parts: Parts, setting: Setting) -> None:
    """Say that somebody is a worker of some kind, and of the same sex."""
    subject = parts.get("subject")
    if subject is None:
        subject = parts["subject"] = subject_for(draw, nouns_of("kin", "fellow")(draw), setting, "known")
    is_gap = not isinstance(subject, NounPhrase | NamedEntity | Pronoun | Coordination)
    someone = setting.head if is_gap else subject
    noun = _WORKERS[_sex(draw, someone)](draw)
    number: Number = "plural" if _is_several(someone) else "singular"
    phrase = noun_phrase(draw, noun, "known", _PRAISED, number)
    parts["predicate"] = NounPhrase(noun, "indefinite", phrase.number, phrase.adjectives, phrase.degree)


def _sex(draw: Draw, someone: Nominal | None) -> str:
    if isinstance(someone, NounPhrase):
        return someone.noun.sex or "m"
    if isinstance(someone, NamedEntity):
        return "f" if someone.name.kind == "woman" else "m"
    if isinstance(someone, Pronoun):
        known = {"he": "m", "she": "f"}.get(someone.person) or (someone.noun and someone.noun.sex)
        return known or ("m" if draw() < 0.5 else "f")
    return "m"


def _is_several(someone: Nominal | None) -> bool:
    if isinstance(someone, NounPhrase):
        return someone.number == "plural"
    return isinstance(someone, Coordination) or (isinstance(someone, Pronoun) and someone.person in ("we", "they"))

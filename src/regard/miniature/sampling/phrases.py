"""Noun phrases, drawn at random."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

from regard.miniature.german.morphology import noun_forms
from regard.miniature.lexicon import Adjective, Adverb, Noun, lexicon
from regard.miniature.meaning import (
    Coordination,
    Determiner,
    Gap,
    NamedEntity,
    Nominal,
    NounPhrase,
    Number,
    Person,
    Pronoun,
)
from regard.miniature.sampling.choices import Draw, RandomChoice, adjectives_of, among, names_of, nouns_of

Style = Literal["subject", "object", "known", "place"]

_WORDS = lexicon()
# "numbered" and the two kinds of possessor are not determiners, but they are chosen in their stead.
_DETERMINERS: Final[dict[Style, RandomChoice[str]]] = {
    "subject": RandomChoice(
        {
            "definite": 60, "my": 7, "your": 3, "our": 6, "demonstrative": 7, "indefinite": 7, "each": 2,
            "many": 2, "some": 2, "no": 1.5, "numbered": 7, "of name": 3, "of noun": 8,
        }
    ),
    "object": RandomChoice(
        {
            "definite": 40, "my": 5, "your": 2, "our": 4, "demonstrative": 6, "indefinite": 33, "each": 1.5,
            "many": 2, "some": 3, "numbered": 9, "of name": 3, "of noun": 9,
        }
    ),
    "known": RandomChoice(
        {
            "definite": 56, "my": 9, "your": 3, "our": 6, "demonstrative": 8, "indefinite": 8, "of name": 4,
            "of noun": 11,
        }
    ),
    "place": RandomChoice(
        {"definite": 72, "my": 3, "our": 4, "demonstrative": 7, "indefinite": 8, "of noun": 6}
    ),
}  # fmt: skip
_NUMERALS: Final = RandomChoice(
    {n: 12 / n for n in range(2, 13)} | dict.fromkeys(range(13, 21), 0.5)
    | dict.fromkeys(range(21, 100), 0.04) | dict.fromkeys(range(30, 100, 10), 0.45) | {100: 0.5, 1000: 0.5}
)  # fmt: skip
_POSSESSORS: Final[RandomChoice[Determiner]] = RandomChoice(
    {"definite": 60, "my": 18, "our": 12, "demonstrative": 10}
)
_NUMBERS: Final[RandomChoice[Number]] = RandomChoice({"singular": 3, "plural": 1})
NAMES: Final = RandomChoice({"woman": 1, "man": 1})
_DEGREES: Final = among(_WORDS.adverbs[word] for word in ("sehr", "ziemlich", "besonders"))
_PREDICATE_DEGREES: Final = among(adverb for adverb in _WORDS.adverbs.values() if adverb.kind == "degree")
_COUNTING: Final = frozenset({"indefinite", "each", "many", "some", "no"})
_OWNING: Final = frozenset({"my", "your", "our"})
# "Mein Mann" is my husband, not my man.
_WILD: Final = frozenset({"stranger", "coach", "game", "light", "weather", "way", "landscape"})
_OWNABLE: Final = frozenset(
    {"kin", "fellow", "pet", "portable", "clothing", "vehicle", "room", "furniture", "device"}
)


@dataclass(frozen=True, slots=True)
class Fullness:
    """How full a noun phrase may be: the chances of an adjective (half of it for persons) and a plural."""

    adjectives: float = 0.44
    plural: float = 0.27


FULL: Final = Fullness()
LIGHT: Final = Fullness(adjectives=0.28, plural=0.22)


@cache
def _looks_the_same(noun: Noun) -> bool:
    """Whether the singular and the plural share a form, so that only a determiner tells them apart."""
    forms = noun_forms(noun)
    return not set(forms["singular"].values()).isdisjoint(forms["plural"].values())


def _adjectives(draw: Draw, noun: Noun, chance: float) -> tuple[tuple[Adjective, ...], Adverb | None]:
    choice = adjectives_of(noun)
    if choice is None or draw() >= chance:
        return (), None
    first = choice(draw)
    second = adjectives_of(noun, 2)
    if first.rank == 1 and second and draw() < 0.13:
        return (first, second(draw)), None
    if first.comparative and draw() < 0.08:
        return (first,), _DEGREES(draw)
    return (first,), None


def _can_be_owned(noun: Noun) -> bool:
    return not noun.classes.isdisjoint(_OWNABLE) and noun.classes.isdisjoint(_WILD)


def _possessor(draw: Draw, noun: Noun) -> NounPhrase | None:
    """Whose it is, as a noun phrase; None if the noun is not the kind of thing that is somebody's."""
    if "part" in noun.classes:
        owner = nouns_of("building")(draw)
    elif _can_be_owned(noun):
        owner = nouns_of("person")(draw)
    else:
        return None
    adjectives, degree = _adjectives(draw, owner, 0.12)
    number: Number = "plural" if draw() < 0.18 else "singular"
    return NounPhrase(owner, _POSSESSORS(draw), number, adjectives, degree)


def noun_phrase(
    draw: Draw, noun: Noun, style: Style, fullness: Fullness = FULL, number: Number | None = None
) -> NounPhrase:
    """A noun phrase about a noun, as its style (the role it is for) makes likely."""
    chosen = _DETERMINERS[style](draw)
    chance = fullness.adjectives / (2 if "person" in noun.classes else 1)
    adjectives, degree = _adjectives(draw, noun, chance)
    if number is None:
        number = "plural" if draw() < fullness.plural else "singular"
    if "unique" in noun.classes:
        return NounPhrase(noun, "definite", "singular", adjectives, degree)
    possessor: NounPhrase | NamedEntity | None = None
    numeral = None
    determiner: Determiner = "definite"
    if chosen == "of noun":
        possessor = _possessor(draw, noun)
    elif chosen == "of name":
        if _can_be_owned(noun) and (adjectives or not _looks_the_same(noun)):
            possessor = NamedEntity(names_of(NAMES(draw))(draw))
    elif chosen == "numbered":
        numeral = _NUMERALS(draw) if noun.plural else None
        determiner = "definite" if numeral and numeral < 13 and draw() < 0.25 else "indefinite"
    else:
        determiner = chosen  # type: ignore[assignment]
    if "kin" in noun.classes and (numeral or determiner in _COUNTING):
        numeral, determiner = None, "my"  # nobody counts uncles; they are somebody's
    elif determiner in _OWNING and not noun.classes.isdisjoint(_WILD):
        determiner = "definite"
    elif not noun.plural and determiner in (_COUNTING if style == "known" else _COUNTING - {"indefinite"}):
        determiner = "definite"  # one cannot count rain
    is_parent = "parent" in noun.classes and (possessor or determiner in _OWNING)
    if not noun.plural or determiner == "each" or is_parent:
        number = "singular"
    elif numeral or determiner in ("many", "some"):
        number = "plural"
    return NounPhrase(noun, determiner, number, adjectives, degree, numeral, possessor)


def person(draw: Draw, persons: RandomChoice[Person]) -> Pronoun | NamedEntity | None:
    """A name or a pronoun in the place of a person's noun phrase; mostly None."""
    value = draw()
    if value < 0.13:
        return NamedEntity(names_of(NAMES(draw))(draw))
    if value > 0.3:
        return None
    word = persons(draw)
    return Pronoun(word, {"he": "m", "she": "f"}.get(word))  # type: ignore[arg-type]


def coordination(draw: Draw, noun: Noun, other: Noun, style: Style) -> Coordination:
    """Two plain noun phrases of the same kind, or a name and one."""
    determiner: Determiner = "indefinite" if style == "object" and draw() < 0.5 else "definite"
    first: NounPhrase | NamedEntity = NounPhrase(noun, determiner, _NUMBERS(draw) if noun.plural else "singular")
    if style == "subject" and "person" in noun.classes and draw() < 0.4:
        first = NamedEntity(names_of(NAMES(draw))(draw))
    number = _NUMBERS(draw) if other.plural else "singular"
    return Coordination(first, NounPhrase(other, determiner, number))


def owner_of(subject: Nominal | None, head: NounPhrase | None) -> Determiner | None:
    """The possessive that points back to a subject, or to the head for a gap; None where it is unclear."""
    value = head if isinstance(subject, Gap) else subject
    if isinstance(value, NounPhrase):
        if "person" not in value.noun.classes or value.determiner == "no":
            return None
        if value.number == "plural":
            return "their"
        # "Das Mädchen sucht seinen Hut" is good grammar but odd, so girls and children own nothing here.
        return {"m": "his", "f": "her"}.get(value.noun.gender)  # type: ignore[return-value]
    if isinstance(value, NamedEntity):
        return "her" if value.name.kind == "woman" else "his"
    if isinstance(value, Coordination):
        return "their"
    if isinstance(value, Pronoun) and value.gender != "n":
        if value.noun and "person" not in value.noun.classes:
            return None
        owners = {"i": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}
        return owners.get(value.person)  # type: ignore[return-value]
    return None


def owned(phrase: NounPhrase, owner: Determiner) -> NounPhrase:
    """The phrase as the subject's own, if it can be owned and nobody else owns it."""
    is_free = not phrase.possessor and not phrase.numeral and "mass" not in phrase.noun.classes
    if not is_free or not _can_be_owned(phrase.noun):
        return phrase
    return replace(phrase, determiner=owner)


def degree(draw: Draw) -> Adverb:
    """How much so, in a predicate."""
    return _PREDICATE_DEGREES(draw)

"""Sampling of a story's cast: its people, things, places and times."""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple, TypeVar

from regard.miniature.lexicon import Adjective, Name, Noun, lexicon
from regard.miniature.meaning import Clock, Time
from regard.miniature.sampling.choices import Draw, RandomChoice, adjectives_of, among, names_of, pick

Sex = Literal["m", "f"]
Item = TypeVar("Item")

_WORDS = lexicon()

# Too big to be carried about, seldom alone, or with a story of its own.
_UNSUITED: Final = frozenset(
    {"Leiter", "Besen", "Schuh", "Handschuh", "Teller", "Glas", "Topf", "Eimer", "Messer", "Gabel", "Geschenk"}
)
_UNWANTED: Final = frozenset({"kaputt", "leer", "voll", "hässlich", "langweilig", "schlecht", "schmutzig", "billig"})
_NOT_VISITED: Final = frozenset({"Haus", "Turm", "Scheune", "Fabrik", "Krankenhaus", "Rathaus", "Insel", "Tal"})

THINGS: Final = among(
    noun for noun in _WORDS.nouns.values() if "portable" in noun.classes and noun.german not in _UNSUITED
)
PLACES: Final = among(
    noun
    for noun in _WORDS.nouns.values()
    if not noun.classes.isdisjoint({"building", "outdoors"}) and noun.whither and noun.german not in _NOT_VISITED
)
STORES: Final = (_WORDS.nouns["Laden"], _WORDS.nouns["Markt"])
_SEXES: Final[RandomChoice[tuple[str, str]]] = RandomChoice(
    {("woman", "man"): 3, ("man", "woman"): 3, ("woman", "woman"): 2, ("man", "man"): 2}
)

# Times that follow each other; a story keeps to one of these rows.
_TIMES: Final[tuple[tuple[Time, ...], ...]] = (
    tuple(
        _WORDS.adverbs[german]
        for german in (
            "am Morgen",
            "nach dem Frühstück",
            "vor dem Mittagessen",
            "am Nachmittag",
            "am Abend",
            "in der Nacht",
        )
    ),
    tuple(adverb for adverb in _WORDS.adverbs.values() if adverb.kind == "dated"),
    tuple(_WORDS.adverbs[german] for german in ("im Frühling", "im Sommer", "im Herbst", "im Winter")),
    tuple(Clock(hour) for hour in range(1, 13)),
)
_ROWS: Final[RandomChoice[tuple[Time, ...]]] = RandomChoice(dict(zip(_TIMES, (4, 3, 1, 3), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """Something that is carried about; a story never has two of one noun."""

    noun: Noun
    adjective: Adjective | None

    @property
    def adjectives(self) -> tuple[Adjective, ...]:
        """What it is like, if the story says so."""
        return (self.adjective,) if self.adjective else ()


class StoryTheme(NamedTuple):
    """Who a story is about, and which thing; the split follows from these alone."""

    hero: Name
    friend: Name
    noun: Noun


class StoryPlan(NamedTuple):
    """All that a plot may use: people in the order of their importance, and places and times in order."""

    people: tuple[Name, Name, Name]
    thing: Thing
    other: Thing
    places: tuple[Noun, Noun, Noun]
    times: tuple[Time, ...]


def sex_of(name: Name) -> Sex:
    """The sex that a first name shows."""
    return "f" if name.kind == "woman" else "m"


def draw_theme(draw: Draw) -> StoryTheme:
    """Two different people and a thing."""
    first, second = _SEXES(draw)
    hero = names_of(first)(draw)
    return StoryTheme(hero, _another(draw, names_of(second), hero), THINGS(draw))


def draw_plan(draw: Draw, theme: StoryTheme) -> StoryPlan:
    """The rest of what a story is made of, around its theme."""
    hero, friend, noun = theme
    third = _another(draw, names_of("woman" if draw() < 0.5 else "man"), hero, friend)
    first = PLACES(draw)
    second = _another(draw, PLACES, first)
    places = (first, second, _another(draw, PLACES, first, second))
    other = _another(draw, THINGS, noun)
    row = _ROWS(draw)
    return StoryPlan(
        (hero, friend, third),
        Thing(noun, _adjective(draw, noun)),
        Thing(other, _adjective(draw, other)),
        places,
        row[int(draw() * (len(row) - 3)) :],
    )


def _another(draw: Draw, choice: RandomChoice[Item], *taken: Item) -> Item:
    while (found := choice(draw)) in taken:
        pass
    return found


@cache
def _suitable(noun: Noun) -> tuple[Adjective, ...]:
    choice = adjectives_of(noun)
    return tuple(a for a in choice.items if a.german not in _UNWANTED) if choice else ()


def _adjective(draw: Draw, noun: Noun) -> Adjective | None:
    found = _suitable(noun)
    return pick(draw, found) if found and draw() < 0.8 else None

"""Sources after `miniature:` in a recipe: SPLIT or SET/SPLIT; and the sets of running text."""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Final, NamedTuple

from regard.errors import DataError
from regard.miniature.examples import news, opinions, retellings, reviews, word_senses
from regard.miniature.examples.drawing import first
from regard.miniature.stories import documents


class Place(NamedTuple):
    """A set of the miniature world, and one of its splits."""

    set: str
    split: str


def place(name: str, sets: Sequence[str]) -> Place:
    """The place of this name: SPLIT, of the first of these sets, or SET/SPLIT."""
    found, _, split = name.rpartition("/")
    if found and found not in sets:
        raise DataError(
            f'miniature:{name}: "{found}" is not one of {", ".join(sets)}, the sets of the miniature world for this '
            f"task; write miniature:SET/SPLIT, or miniature:SPLIT for {sets[0]}."
        )
    return Place(found or sets[0], split)


def _mixed(split: str, count: int | None = None, seed: int = 0) -> Iterator[str]:
    """All kinds of text in turn."""
    endless = 10**12
    kinds = {kind: make(split, endless, seed) for kind, make in _TEXTS.items() if kind in _SHARES}
    turns = cycle([kind for kind, times in _SHARES.items() for _ in range(times)])
    return first(split, count, (next(kinds[kind]) for kind in turns))


_TEXTS: Final[dict[str, Callable[[str, int | None, int], Iterator[str]]]] = {
    "stories": documents,
    "reviews": lambda split, count, seed: (review.text for review in reviews(split, count, seed)),
    "opinions": lambda split, count, seed: (review.text for review in opinions(split, count, seed)),
    "news": news,
    "senses": lambda split, count, seed: (story.text for story in word_senses(split, count, seed)),
    "retellings": retellings,
    "mixed": _mixed,
}
_SHARES: Final = {"stories": 4, "reviews": 3, "news": 3, "senses": 2, "retellings": 2}

TEXT_SETS: Final = tuple(_TEXTS)


def texts(name: str, count: int | None = None, seed: int = 0) -> Iterator[str]:
    """Documents of a place: stories unless it names another set."""
    found = place(name, TEXT_SETS)
    return _TEXTS[found.set](found.split, count, seed)

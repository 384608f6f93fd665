"""Weighted random choices, and the words of the lexicon that combine with a word."""

from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from typing import Generic, Literal, TypeVar

from regard.miniature.lexicon import Adjective, Frame, Name, Noun, Verb, lexicon

Item = TypeVar("Item")

# A source of numbers in [0, 1). Only `random()` of the standard generator is used: its other methods have
# changed between versions of Python, and the world must not.
Draw = Callable[[], float]


class RandomChoice(Generic[Item]):
    """Items to draw from, each with a weight."""

    __slots__ = ("_bounds", "_total", "items")

    def __init__(self, weights: Mapping[Item, float]) -> None:
        self.items = tuple(weights)
        *self._bounds, self._total = accumulate(weights.values())

    def __call__(self, draw: Draw) -> Item:
        return self.items[bisect(self._bounds, draw() * self._total)]


def pick(draw: Draw, items: Sequence[Item]) -> Item:
    """One of a few items, as unevenly as `among` would choose it, without keeping a choice for them."""
    # The inverse of the area under a line that falls from 2 to 1.
    return items[int(len(items) * (2 - sqrt(4 - 3 * draw())))]


def among(items: Iterable[Item]) -> RandomChoice[Item]:
    """A mildly uneven choice: the first item is twice as likely as the last."""
    listed = list(dict.fromkeys(items))
    return RandomChoice({item: 2 - place / len(listed) for place, item in enumerate(listed)})


@cache
def _adjectives() -> dict[Noun, tuple[Adjective, ...]]:
    fitting: dict[Noun, list[Adjective]] = {noun: [] for noun in lexicon().nouns.values()}
    for adjective in lexicon().adjectives.values():
        for noun in adjective.fits:
            fitting[noun].append(adjective)
    return {noun: tuple(found) for noun, found in fitting.items()}


@cache
def adjectives_of(noun: Noun, rank: int | None = None) -> RandomChoice[Adjective] | None:
    """The adjectives that suit a noun, of one rank or of any."""
    found = [adjective for adjective in _adjectives()[noun] if rank in (None, adjective.rank)]
    return among(found) if found else None


@cache
def verbs_of(frame: Frame) -> RandomChoice[Verb]:
    """The verbs of one frame."""
    return among(verb for verb in lexicon().verbs if verb.frame == frame)


@cache
def verbs_with(noun: Noun, role: Literal["subject", "object", "target"], frame: Frame) -> RandomChoice[Verb] | None:
    """The verbs of one frame that take a noun in a role."""
    found = [verb for verb in lexicon().verbs if verb.frame == frame and noun in getattr(verb, f"{role}s")]
    return among(found) if found else None


@cache
def nouns_for(verb: Verb, role: Literal["subject", "object", "target"]) -> RandomChoice[Noun]:
    """The nouns that a verb takes in a role."""
    return among(getattr(verb, f"{role}s"))


@cache
def nouns_of(*classes: str) -> RandomChoice[Noun]:
    """The nouns of any of these classes."""
    return among(noun for noun in lexicon().nouns.values() if not noun.classes.isdisjoint(classes))


@cache
def nouns_suiting(adjective: Adjective) -> RandomChoice[Noun]:
    """The nouns that an adjective suits."""
    return among(adjective.fits)


@cache
def nouns_like(adjective: Adjective, noun: Noun) -> RandomChoice[Noun] | None:
    """The other nouns that an adjective suits and that share the first class of a noun."""
    kinds = (
        "adult",
        "child",
        "animal",
        "food",
        "drink",
        "portable",
        "vehicle",
        "site",
        "plant",
        "abstract",
        "thing",
    )
    kind = next((kind for kind in kinds if kind in noun.classes), None)
    found = [other for other in adjective.fits if kind in other.classes and other is not noun]
    return among(found) if found else None


@cache
def names_of(kind: str) -> RandomChoice[Name]:
    """The proper names of one kind."""
    return among(name for name in lexicon().names.values() if name.kind == kind)

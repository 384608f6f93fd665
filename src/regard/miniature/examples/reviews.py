"""Sentiment examples: reviews whose label depends on word order, and opinions in plainer words."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from regard.miniature.examples.drawing import drawn, first
from regard.miniature.examples.phrasebook import phrasebook
from regard.miniature.sampling.choices import Draw

_TOPICS: Final = ("film", "book", "restaurant", "hotel", "concert", "product")
_PLAIN_TOPICS: Final = ("film", "restaurant", "hotel")
_LABELS: Final = {"good": "positive", "bad": "negative"}


class Review(NamedTuple):
    """A text of one to three sentences, and whether it is `positive` or `negative`."""

    text: str
    label: str


def reviews(split: str, count: int | None = None, seed: int = 0) -> Iterator[Review]:
    """The first reviews of a split: as many as asked for, or as the split has by default."""
    return _drawn("reviews", partial(_review, "review", _TOPICS), split, count, seed)


def opinions(split: str, count: int | None = None, seed: int = 0) -> Iterator[Review]:
    """The same in plainer words: most of them tell by themselves, but for some "not" and "but"."""
    return _drawn("opinions", partial(_review, "opinion", _PLAIN_TOPICS), split, count, seed)


def _drawn(what: str, make: Callable[[Draw], Review], split: str, count: int | None, seed: int) -> Iterator[Review]:
    return first(split, count, drawn(what, split, seed, make, lambda review: review.text))


def _review(rule: str, topics: Sequence[str], draw: Draw) -> Review:
    opinion = "good" if draw() < 0.5 else "bad"
    topic = topics[int(draw() * len(topics))]
    return Review(phrasebook("reviews").say(rule, draw, opinion, topic).text, _LABELS[opinion])

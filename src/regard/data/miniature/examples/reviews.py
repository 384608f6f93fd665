"""Reviews that are for or against what they speak of, in words that only together say which."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from regard.data.miniature.examples.drawing import drawn, first
from regard.data.miniature.examples.phrasebook import phrasebook
from regard.data.miniature.sampling.choices import Draw

_TOPICS: Final = ("film", "book", "restaurant", "hotel", "concert", "product")
_LABELS: Final = {"good": "positive", "bad": "negative"}


class Review(NamedTuple):
    """A text of one to three sentences, and whether it is `positive` or `negative`."""

    text: str
    label: str


def reviews(split: str, count: int | None = None, seed: int = 0) -> Iterator[Review]:
    """The first reviews of a split: as many as asked for, or as the split has by default."""
    return first(split, count, drawn("reviews", split, seed, _review, lambda review: review.text))


def _review(draw: Draw) -> Review:
    opinion = "good" if draw() < 0.5 else "bad"
    topic = _TOPICS[int(draw() * len(_TOPICS))]
    return Review(phrasebook("reviews").say("review", draw, opinion, topic).text, _LABELS[opinion])

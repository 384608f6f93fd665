"""Sampling of examples: reproducible by seed, without repetition, disjoint between splits."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from random import Random
from typing import Final, NamedTuple, TypeVar

from regard.errors import DataError
from regard.miniature.holdout import stable_fraction
from regard.miniature.sampling.choices import Draw

Example = TypeVar("Example")


class Share(NamedTuple):
    """How many examples a split has unless told, and its share of the stable fractions of their keys."""

    size: int
    low: float
    high: float

    def holds(self, key: str) -> bool:
        """Whether an example with this key belongs to the split."""
        return self.low <= stable_fraction(key) < self.high


EXAMPLE_SPLITS: Final = {
    "train": Share(10_000, 0.0, 0.8),
    "valid": Share(1_000, 0.8, 0.9),
    "test": Share(1_000, 0.9, 1.0),
}


def share_of(split: str, splits: Mapping[str, Share] = EXAMPLE_SPLITS) -> Share:
    """The share of a split; an unknown one is refused."""
    if split not in splits:
        raise DataError(f'split: "{split}" is not one of {", ".join(splits)}, which have examples.')
    return splits[split]


def first(
    split: str, count: int | None, found: Iterator[Example], splits: Mapping[str, Share] = EXAMPLE_SPLITS
) -> Iterator[Example]:
    """As many as asked for, or as many as the split has by default."""
    if count is not None and count < 1:
        raise DataError(f"count: {count} is too few; ask {split} for 1 example or more.")
    return islice(found, count or share_of(split, splits).size)


def drawn(
    what: str, split: str, seed: int, make: Callable[[Draw], Example], key: Callable[[Example], str]
) -> Iterator[Example]:
    """Examples of a split without end, no two with the same key; the split follows from the key alone."""
    return _drawn(share_of(split), Random(f"{seed}:{split}:{what}").random, make, key)


def _drawn(
    share: Share, draw: Draw, make: Callable[[Draw], Example], key: Callable[[Example], str]
) -> Iterator[Example]:
    seen: set[str] = set()
    while True:
        example = make(draw)
        if share.holds(name := key(example)) and name not in seen:
            seen.add(name)
            yield example

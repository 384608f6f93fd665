"""Splits of the miniature world: training, test, and compositions held out on purpose."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final, NamedTuple

from regard.errors import DataError
from regard.miniature.english import in_english
from regard.miniature.german import in_german
from regard.miniature.holdout import Novelty, novelty, stable_fraction
from regard.miniature.meaning import Meaning
from regard.miniature.sampling import sample
from regard.miniature.sampling.choices import RandomChoice

MOST_WORDS: Final = 30


class SentencePair(NamedTuple):
    """A meaning and its sentences in both languages."""

    meaning: Meaning
    german: str
    english: str


class TranslationPair(NamedTuple):
    """A German sentence and its English translation."""

    source: str
    target: str


class MiniatureSplit(NamedTuple):
    """Default number of pairs of a split, their nesting depths, and what they contain that training does not."""

    size: int
    depths: RandomChoice[int]
    holds: Novelty
    share: tuple[float, float] = (0.0, 1.0)  # of the stable fractions of English sentences


# Deeper sentences hold more words and are refused more often, so they are drawn a little more often.
_DEPTHS: Final = RandomChoice({0: 53, 1: 34, 2: 13})
_NOTHING_NEW: Final = Novelty(False, False)

SPLITS: Final = {
    "train": MiniatureSplit(60_000, _DEPTHS, _NOTHING_NEW, (0.0, 0.92)),
    "valid": MiniatureSplit(1_000, _DEPTHS, _NOTHING_NEW, (0.92, 0.96)),
    "test": MiniatureSplit(1_000, _DEPTHS, _NOTHING_NEW, (0.96, 1.0)),
    "unseen-pairs": MiniatureSplit(500, _DEPTHS, Novelty(True, False)),
    "unseen-cases": MiniatureSplit(500, _DEPTHS, Novelty(False, True)),
    "unseen-depth": MiniatureSplit(500, RandomChoice({3: 1}), _NOTHING_NEW),
}


def sentences(split: str, seed: int = 0) -> Iterator[SentencePair]:
    """Sentences of a split without end and without repetition, always the same for the same seed."""
    if split not in SPLITS:
        raise DataError(f'split: "{split}" is not one of {", ".join(SPLITS)}.')
    return _sentences(split, seed)


def _sentences(name: str, seed: int) -> Iterator[SentencePair]:
    split = SPLITS[name]
    low, high = split.share
    draw = Random(f"{seed}:{name}").random
    seen: set[str] = set()
    while True:
        meaning = sample(draw, split.depths(draw))
        if novelty(meaning) != split.holds:
            continue
        english = in_english(meaning)
        # Chosen by the English sentence, because several German ones can share it.
        if not low <= stable_fraction(english) < high or english.count(" ") >= MOST_WORDS:
            continue
        german = in_german(meaning)
        if german not in seen:
            seen.add(german)
            yield SentencePair(meaning, german, english)


def generate(split: str, seed: int = 0) -> Iterator[TranslationPair]:
    """Pairs of a split, German to English, without end and without repetition."""
    return (TranslationPair(sentence.german, sentence.english) for sentence in sentences(split, seed))


def pairs(split: str, count: int | None = None, seed: int = 0) -> list[TranslationPair]:
    """The first pairs of a split: as many as asked for, or as many as the split has by default."""
    endless = generate(split, seed)
    if count is None:
        count = SPLITS[split].size
    if count < 1:
        raise DataError(f"count: {count} is too few; ask {split} for 1 pair or more.")
    return list(islice(endless, count))

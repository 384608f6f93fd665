"""Word-sense examples: short stories around words with two senses, such as *bank*."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from regard.miniature.examples.drawing import drawn, first
from regard.miniature.examples.phrasebook import phrasebook
from regard.miniature.sampling.choices import Draw

SENSES: Final = {
    "bank": ("money", "river"),
    "bat": ("animal", "club"),
    "crane": ("bird", "machine"),
    "spring": ("season", "water"),
    "seal": ("animal", "stamp"),
    "match": ("game", "fire"),
    "palm": ("tree", "hand"),
    "letter": ("mail", "alphabet"),
}
_WORDS: Final = tuple((word, sense) for word, both in SENSES.items() for sense in both)
# Of the reader's word there is most.
_BANK_SHARE: Final = 0.2


class WordSense(NamedTuple):
    """A story of four sentences, and where it has a word in one of its senses."""

    text: str
    word: str
    sense: str
    starts: tuple[int, ...]


def word_senses(split: str, count: int | None = None, seed: int = 0) -> Iterator[WordSense]:
    """The first such stories of a split: as many as asked for, or as the split has by default."""
    return first(split, count, drawn("senses", split, seed, _story, lambda story: story.text))


def _story(draw: Draw) -> WordSense:
    few = _WORDS[:2] if draw() < _BANK_SHARE else _WORDS
    word, sense = few[int(draw() * len(few))]
    text = phrasebook("senses").begin(draw, f"{word}_{sense}")
    said, starts = "", list[int]()
    for rule in ("begin", "middle", "middle", "finish"):
        found = text.say(rule)
        said += " " if said else ""
        starts += [len(said) + span.start for span in found.spans]
        said += found.text
    return WordSense(said, word, sense, tuple(starts))

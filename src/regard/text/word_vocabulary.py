"""Text to words, for tables of word vectors: which there are, how often, and which pairs of them are phrases."""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from pydantic import Field
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from regard.config.settings import Settings
from regard.text.tokenizer import END_OF_TEXT, Tokenizer

JOINT = "_"
"""What stands between the words of a phrase."""


class WordSettings(Settings):
    """Which words of a text have vectors."""

    split: Literal["letters", "spaces"] = "letters"
    """What a word is: letters and digits (with ' - _ inside), or whatever white space parts, punctuation included."""
    lowercase: bool = True
    """Whether capital letters are folded."""
    minimum_count: int = Field(5, ge=1)
    """How often a word must occur to have a vector; others are passed over as if they were not there."""
    size: int | None = Field(None, ge=1)
    """The largest number of words, the most frequent ones; unset: all that occur often enough."""
    max_counted_words: int = Field(4_000_000, ge=1000)
    """Words that are counted at once: where a text has more, the rarest are forgotten on the way, which is told."""
    phrases: int = Field(0, ge=0, le=4)
    """Passes that join pairs such as new_york into one word; a second pass joins up to four words."""
    phrase_threshold: float = Field(100.0, gt=0)
    """How much more often than by chance a pair must occur to be a phrase (Mikolov et al., 2013, eq. 6)."""


Split = Callable[[str], list[str]]


@cache
def _letters() -> re.Pattern[str]:
    """Return what finds words: letters and digits of any script with their marks, joined inside by ' - or _."""
    marks: list[str] = []
    begin = None
    for code in range(sys.maxunicode + 2):
        is_mark = code <= sys.maxunicode and unicodedata.category(chr(code)) in ("Mn", "Mc")
        if is_mark and begin is None:
            begin = code
        elif not is_mark and begin is not None:
            marks.append(f"{chr(begin)}-{chr(code - 1)}")
            begin = None
    letter = f"(?:[^\\W_]|[{''.join(marks)}])"
    return re.compile(f"[^\\W_]{letter}*(?:['_-]{letter}+)*")


def splitter(settings: WordSettings) -> Split:
    """Return the function that makes words of a text."""
    find = str.split if settings.split == "spaces" else _letters().findall
    fold = settings.lowercase

    def split(text: str) -> list[str]:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
            if settings.split == "letters":
                text = text.replace("’", "'")
        return find(text.lower() if fold else text)

    return split


class WordCounter:
    """Counts words in bounded memory: where there are too many, the rarest are forgotten, as word2vec does."""

    def __init__(self, limit: int) -> None:
        self.limit, self.floor, self.total = limit, 0, 0
        self.counts: Counter[str] = Counter()

    def add(self, words: Sequence[str]) -> None:
        """Count some more."""
        self.counts.update(words)
        self.total += len(words)
        while len(self.counts) > self.limit:
            self.floor += 1
            rare = [word for word, count in self.counts.items() if count <= self.floor]
            for word in rare:
                del self.counts[word]
            if len(self.counts) > self.limit * 0.9:
                continue
            self.counts = Counter(self.counts)  # a dictionary that only loses keys keeps its size

    def frequent(self, minimum: int, size: int | None) -> dict[str, int]:
        """Return words and counts, the most frequent first and equals in order; those too rare are left out."""
        kept = [(word, count) for word, count in self.counts.items() if count >= minimum and word != END_OF_TEXT]
        kept.sort(key=lambda each: (-each[1], each[0]))
        return dict(kept[:size])


def join_phrases(words: Sequence[str], known: Callable[[str], bool], passes: int) -> list[str]:
    """Return words with pairs that are known as phrases joined, from left to right, so many times."""
    found = list(words)
    for _ in range(passes):
        joined: list[str] = []
        place = 0
        while place < len(found):
            both = JOINT.join(found[place : place + 2])
            is_pair = place + 1 < len(found) and known(both)
            joined.append(both if is_pair else found[place])
            place += 1 + is_pair
        if len(joined) == len(found):
            break
        found = joined
    return found


def find_phrases(words: WordCounter, pairs: WordCounter, settings: WordSettings) -> frozenset[str]:
    """Return the pairs that are phrases: so much more often together than two such words are by chance."""
    least, size = settings.minimum_count, words.total
    found = set()
    for pair, count in pairs.counts.items():
        if count < least:
            continue
        first, _, second = pair.partition(" ")
        chance = words.counts.get(first, 0) * words.counts.get(second, 0)
        if chance and (count - least) * size / chance > settings.phrase_threshold:
            found.add(f"{first}{JOINT}{second}")
    return frozenset(found)


def neighbors_of(words: Sequence[str]) -> Iterable[str]:
    """Yield every two words that stand side by side, with a space between."""
    return map(" ".join, pairwise(words))


def table_tokenizer(words: Iterable[str]) -> Tokenizer:
    """Return the tokenizer of a table: words by their places in it, and behind them the end of a text."""
    numbers = {word: number for number, word in enumerate(words)}
    backend = Backend(models.WordLevel({**numbers, END_OF_TEXT: len(numbers)}, unk_token=END_OF_TEXT))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return Tokenizer(backend)

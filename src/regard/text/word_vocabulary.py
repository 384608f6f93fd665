"""Word vocabularies for word embeddings: word splitting, counts in bounded memory, and phrases."""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from regard.text.settings import WordSettings
from regard.text.tokenizer import END_OF_TEXT, Tokenizer

JOINT = "_"
"""The character that joins the words of a phrase."""


Split = Callable[[str], list[str]]


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word: alphanumerics of any script with combining marks, joined inside by ' - or _."""
    marks: list[str] = []
    begin = None
    for code in range(sys.maxunicode + 2):
        is_mark = code <= sys.maxunicode and unicodedata.category(chr(code)) in ("Mn", "Mc")
        if is_mark and begin is None:
            begin = code
        elif not is_mark and begin is not None:
            marks.append(f"{chr(begin)}-{chr(code - 1)}")
            begin = None
    character = f"(?:[^\\W_]|[{''.join(marks)}])"
    return re.compile(f"[^\\W_]{character}*(?:['_-]{character}+)*")


def splitter(settings: WordSettings) -> Split:
    """Return the function that splits a text into words."""
    find = str.split if settings.split == "spaces" else _word_pattern().findall
    lowercase = settings.lowercase

    def split(text: str) -> list[str]:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
            if settings.split == "letters":
                text = text.replace("’", "'")
        return find(text.lower() if lowercase else text)

    return split


class WordCounter:
    """Counts words in bounded memory: beyond `limit` distinct words the rarest are dropped, as word2vec does."""

    def __init__(self, limit: int) -> None:
        self.limit, self.floor, self.total = limit, 0, 0
        self.counts: Counter[str] = Counter()

    def add(self, words: Sequence[str]) -> None:
        """Count more words."""
        self.counts.update(words)
        self.total += len(words)
        while len(self.counts) > self.limit:
            self.floor += 1
            rare = [word for word, count in self.counts.items() if count <= self.floor]
            for word in rare:
                del self.counts[word]
            if len(self.counts) > self.limit * 0.9:
                continue
            self.counts = Counter(self.counts)  # a dictionary that only loses keys never shrinks

    def frequent(self, minimum: int, size: int | None) -> dict[str, int]:
        """Return the words that occur `minimum` times or more and their counts, by falling count, then by name."""
        kept = [(word, count) for word, count in self.counts.items() if count >= minimum and word != END_OF_TEXT]
        kept.sort(key=lambda each: (-each[1], each[0]))
        return dict(kept[:size])


def join_phrases(words: Sequence[str], is_phrase: Callable[[str], bool], passes: int) -> list[str]:
    """Return the words with phrase pairs joined, from left to right, in the given number of passes."""
    result = list(words)
    for _ in range(passes):
        joined: list[str] = []
        position = 0
        while position < len(result):
            both = JOINT.join(result[position : position + 2])
            is_pair = position + 1 < len(result) and is_phrase(both)
            joined.append(both if is_pair else result[position])
            position += 1 + is_pair
        if len(joined) == len(result):
            break
        result = joined
    return result


def find_phrases(words: WordCounter, pairs: WordCounter, settings: WordSettings) -> frozenset[str]:
    """Return the phrases: pairs whose score, relative to independent words, is above the threshold."""
    minimum, size = settings.min_count, words.total
    phrases = set()
    for pair, count in pairs.counts.items():
        if count < minimum:
            continue
        first, _, second = pair.partition(" ")
        product = words.counts.get(first, 0) * words.counts.get(second, 0)
        if product and (count - minimum) * size / product > settings.phrase_threshold:
            phrases.add(f"{first}{JOINT}{second}")
    return frozenset(phrases)


def neighbors_of(words: Sequence[str]) -> Iterable[str]:
    """Yield all bigrams, joined by a space."""
    return map(" ".join, pairwise(words))


def table_tokenizer(words: Iterable[str]) -> Tokenizer:
    """Return the tokenizer of a vector table: a word's id is its row; the last id is <|endoftext|>."""
    numbers = {word: number for number, word in enumerate(words)}
    backend = Backend(models.WordLevel({**numbers, END_OF_TEXT: len(numbers)}, unk_token=END_OF_TEXT))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return Tokenizer(backend)

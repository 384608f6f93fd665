"""Windows of spelled words: what a model that reads characters and says words learns from."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.corpus.corpus import Ids
from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.inputs import Tensors
from regard.data.feeds.windows import Stream, WindowFeed
from regard.text.char_tokenizer import BEGINNINGS, SPACE, byte_order
from regard.text.tokenizer import Tokenizer

CHUNK = 2**20
"""Ids that are looked at together to count words."""
LOOKED_AT = 2**28
"""Ids that words are counted in at most, from all over the text."""

Spellings = NDArray[np.bytes_]


@dataclass(frozen=True)
class CharWordBatch(Tensors):
    """Rows of spelled words, end to end, and the number of each word."""

    tokens: Tensor  # (N,)
    cu_seqlens: Tensor  # (R + 1,) int32: where each row begins, and where the last ends
    words: Tensor  # (R, T) NO_LABEL where a row has fewer words than others
    label_count: int
    """Words that have another before them in their row; as many have one behind them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """N, R and T."""
        return (self.tokens.numel(), *self.words.shape)


def spellings(ids: Ids, longest: int) -> tuple[Ids, Spellings]:
    """Return where words begin among ids, and how each is spelled: at most `longest` bytes, nothing for a special."""
    first = np.flatnonzero(ids < BEGINNINGS)
    if not len(first):
        return first, np.zeros(0, f"S{longest}")
    ids = ids[first[0] :]
    word = np.cumsum(ids < BEGINNINGS) - 1
    slot = np.arange(len(ids)) - (first - first[0])[word] - 1
    found = np.zeros((len(first), longest), np.uint8)
    kept = (slot >= 0) & (slot < longest)
    found[word[kept], slot[kept]] = _BYTE_OF[ids[kept]]
    return first, found.view(f"S{longest}")[:, 0]


_BYTE_OF = np.array([0] * SPACE + list(byte_order()), np.uint8)


def count_words(stream: Stream, size: int, minimum: int, longest: int) -> list[str]:
    """Return the most frequent words of a text, at most so many, that occur often enough, the commonest first."""
    counts: Counter[bytes] = Counter()
    step = max(1, -(-len(stream) // LOOKED_AT))
    for begin in range(0, len(stream), CHUNK * step):
        _, found = spellings(stream.read(begin, min(len(stream), begin + CHUNK)), longest)
        for word, count in zip(*np.unique(found, return_counts=True), strict=True):
            counts[bytes(word)] += int(count)
    del counts[b""]
    often = ((word, count) for word, count in counts.items() if count >= minimum and len(word) < longest)
    in_order = sorted(often, key=lambda each: (-each[1], each[0]))
    texts = (_decoded(word) for word, _ in in_order)
    return list(islice((text for text in texts if text is not None), size))


def _decoded(word: bytes) -> str | None:
    """Return a word as text; nothing for the rest of one that a chunk has cut."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return None


class WordBook:
    """The numbers of words by their spellings."""

    def __init__(self, words: Tokenizer, longest: int) -> None:
        self.longest, self.unknown = longest, words.unk_id
        known = sorted((word.encode("utf-8"), number) for number, word in words.vocabulary.items())
        self.spelled = np.array([word for word, _ in known] or [b""], f"S{longest}")
        self.numbers = np.array([number for _, number in known] or [words.unk_id], np.int64)

    def __call__(self, ids: Ids) -> tuple[Ids, Ids]:
        """Return where words begin among ids, and their numbers; a special token keeps its own."""
        first, found = spellings(ids, self.longest)
        place = np.minimum(np.searchsorted(self.spelled, found), len(self.spelled) - 1)
        numbers = np.where(self.spelled[place] == found, self.numbers[place], self.unknown)
        return first, np.where(ids[first] < SPACE, ids[first], numbers)


class CharWordFeed(WindowFeed):
    """Updates of words; window, update and limit are counted in ids, that is bytes.

    A word belongs to the window in which it begins.
    """

    def __init__(self, stream: Stream, book: WordBook, length: int, tokens: int, limit: int, seed: int) -> None:
        super().__init__(stream, length, tokens, limit, seed)
        self.book = book

    def _batch(self, begins: Ids) -> CharWordBatch:  # type: ignore[override]
        return word_batch(self.stream, self.book, begins, self.length)


def fixed_words(
    stream: Stream, book: WordBook, length: int, limit: int, count: int | None = None
) -> Iterator[CharWordBatch]:
    """Yield (the first `count` ids of) a text once, in order."""
    begins = np.arange(0, min(len(stream), count or len(stream)), length)
    size = max(1, limit // length)
    for first in range(0, len(begins), size):
        yield word_batch(stream, book, begins[first : first + size], length)


def word_batch(stream: Stream, book: WordBook, begins: Ids, length: int) -> CharWordBatch:
    """Return the words that begin in some windows of a text as one batch."""
    tokens, numbers = list[Ids](), list[Ids]()
    for begin in begins.tolist():
        ids = stream.read(begin, min(len(stream), begin + length + book.longest))
        first, found = book(ids)
        inside = first < length
        if not inside.any():  # one word longer than a window goes through all of it
            tokens.append(np.array([SPACE], np.int64))
            numbers.append(np.array([book.unknown], np.int64))
            continue
        behind = first[~inside]
        tokens.append(ids[first[0] : behind[0] if len(behind) else len(ids)])
        numbers.append(found[inside])
    sizes = np.array([len(each) for each in numbers])
    words = np.full((len(sizes), int(sizes.max())), NO_LABEL, np.int64)
    words[np.arange(words.shape[1]) < sizes[:, None]] = np.concatenate(numbers)
    bounds = np.cumsum([0, *(len(each) for each in tokens)]).astype(np.int32)
    return CharWordBatch(
        torch.from_numpy(np.concatenate(tokens)),
        torch.from_numpy(bounds),
        torch.from_numpy(words),
        int((sizes - 1).sum()),
    )

"""Windows of words as characters: training data of a model with character input and word output (ELMo)."""

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
from regard.text.char_tokenizer import SPACE, WORD_START_LIMIT, byte_order
from regard.text.tokenizer import Tokenizer

CHUNK = 2**20
"""Ids processed together to count words."""
MAX_COUNTED = 2**28
"""Maximum number of ids in which words are counted, spread over the text."""

Spellings = NDArray[np.bytes_]


@dataclass(frozen=True)
class CharWordBatch(Tensors):
    """Rows of words as characters, concatenated, and the id of each word."""

    tokens: Tensor  # (N,)
    cu_seqlens: Tensor  # (R + 1,) int32: where each row begins, and where the last ends
    words: Tensor  # (R, T) NO_LABEL where a row has fewer words than others
    label_count: int
    """Words with a previous word in their row; as many have a next one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """N, R and T."""
        return (self.tokens.numel(), *self.words.shape)


def spellings(ids: Ids, longest: int) -> tuple[Ids, Spellings]:
    """Return the starts of words among ids, and the spelling of each: up to `longest` bytes, empty for a special."""
    first = np.flatnonzero(ids < WORD_START_LIMIT)
    if not len(first):
        return first, np.zeros(0, f"S{longest}")
    ids = ids[first[0] :]
    word = np.cumsum(ids < WORD_START_LIMIT) - 1
    slot = np.arange(len(ids)) - (first - first[0])[word] - 1
    spelled = np.zeros((len(first), longest), np.uint8)
    kept = (slot >= 0) & (slot < longest)
    spelled[word[kept], slot[kept]] = _BYTE_OF[ids[kept]]
    return first, spelled.view(f"S{longest}")[:, 0]


_BYTE_OF = np.array([0] * SPACE + list(byte_order()), np.uint8)


def count_words(stream: Stream, size: int, minimum: int, longest: int) -> list[str]:
    """Return up to `size` words that occur at least `minimum` times, the most frequent first."""
    counts: Counter[bytes] = Counter()
    step = max(1, -(-len(stream) // MAX_COUNTED))
    for begin in range(0, len(stream), CHUNK * step):
        _, spelled = spellings(stream.read(begin, min(len(stream), begin + CHUNK)), longest)
        for word, count in zip(*np.unique(spelled, return_counts=True), strict=True):
            counts[bytes(word)] += int(count)
    del counts[b""]
    often = ((word, count) for word, count in counts.items() if count >= minimum and len(word) < longest)
    in_order = sorted(often, key=lambda each: (-each[1], each[0]))
    texts = (_decoded(word) for word, _ in in_order)
    return list(islice((text for text in texts if text is not None), size))


def _decoded(word: bytes) -> str | None:
    """Return a word as text; None for a word cut by a chunk boundary."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return None


class WordLookup:
    """Looks up word ids by spelling."""

    def __init__(self, words: Tokenizer, longest: int) -> None:
        self.longest, self.unknown = longest, words.unk_id
        known = sorted((word.encode("utf-8"), number) for number, word in words.vocabulary.items())
        self.spelled = np.array([word for word, _ in known] or [b""], f"S{longest}")
        self.numbers = np.array([number for _, number in known] or [words.unk_id], np.int64)

    def __call__(self, ids: Ids) -> tuple[Ids, Ids]:
        """Return the starts of words among ids, and the word ids; a special token keeps its id."""
        first, spelled = spellings(ids, self.longest)
        index = np.minimum(np.searchsorted(self.spelled, spelled), len(self.spelled) - 1)
        numbers = np.where(self.spelled[index] == spelled, self.numbers[index], self.unknown)
        return first, np.where(ids[first] < SPACE, ids[first], numbers)


class CharWordFeed(WindowFeed):
    """Updates of words; window, update and limit are counted in ids, which are bytes.

    A word belongs to the window it begins in.
    """

    def __init__(self, stream: Stream, book: WordLookup, length: int, tokens: int, limit: int, seed: int) -> None:
        super().__init__(stream, length, tokens, limit, seed)
        self.book = book

    def _batch(self, begins: Ids) -> CharWordBatch:  # type: ignore[override]
        return word_batch(self.stream, self.book, begins, self.length)


def fixed_words(
    stream: Stream, book: WordLookup, length: int, limit: int, count: int | None = None
) -> Iterator[CharWordBatch]:
    """Yield batches of (the first `count` ids of) a text, once and in order."""
    begins = np.arange(0, min(len(stream), count or len(stream)), length)
    size = max(1, limit // length)
    for first in range(0, len(begins), size):
        yield word_batch(stream, book, begins[first : first + size], length)


def word_batch(stream: Stream, book: WordLookup, begins: Ids, length: int) -> CharWordBatch:
    """Return the words that begin in some windows of a text as one batch."""
    tokens, numbers = list[Ids](), list[Ids]()
    for begin in begins.tolist():
        ids = stream.read(begin, min(len(stream), begin + length + book.longest))
        first, word_ids = book(ids)
        inside = first < length
        if not inside.any():  # inside a word longer than a window
            tokens.append(np.array([SPACE], np.int64))
            numbers.append(np.array([book.unknown], np.int64))
            continue
        after = first[~inside]
        tokens.append(ids[first[0] : after[0] if len(after) else len(ids)])
        numbers.append(word_ids[inside])
    sizes = np.array([len(each) for each in numbers])
    words = np.full((len(sizes), int(sizes.max())), NO_LABEL, np.int64)
    words[np.arange(words.shape[1]) < sizes[:, None]] = np.concatenate(numbers)
    cu_seqlens = np.cumsum([0, *(len(each) for each in tokens)]).astype(np.int32)
    return CharWordBatch(
        torch.from_numpy(np.concatenate(tokens)),
        torch.from_numpy(cu_seqlens),
        torch.from_numpy(words),
        int((sizes - 1).sum()),
    )

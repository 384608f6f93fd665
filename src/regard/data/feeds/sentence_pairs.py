"""Sentence pairs `[CLS] A [SEP] B [SEP]` for next-sentence prediction: a pure function of key and position."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.document_index import DocumentIndex
from regard.data.corpus.sentences import LONGEST
from regard.data.counter_rng import Keys, key_of, keys_at, ragged, uniform
from regard.data.encoding.batches import NO_LABEL
from regard.text.tokenizer import Tokenizer

FOLLOWS, IS_OTHER = 0, 1
"""Labels of the second text: it follows the first, or comes from another document."""

SAMPLED = 512
"""Windows sampled to estimate the number of tokens per window."""


@dataclass(frozen=True)
class Marks:
    """The special tokens of sequences, and those of the text on disk."""

    first: int
    """[CLS]: before every sequence."""
    separator: int
    """[SEP]: after every text of a sequence."""
    sentence: int
    """Between sentences on disk."""
    document: int
    """After documents on disk."""

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "Marks":
        """Return those of a tokenizer."""
        return cls(tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id, tokenizer.eos_id)


class SentencePairBatch(NamedTuple):
    """Sequences, concatenated."""

    tokens: Ids  # (N,)
    segments: Ids  # (N,)
    positions: Ids  # (N,)
    cu_seqlens: Ids  # (R + 1,) where each begins, and the last ends
    is_next: Ids  # (R,) FOLLOWS, IS_OTHER, or NO_LABEL where there is no second text
    keys: Keys  # (R,)

    def select(self, order: Ids) -> "SentencePairBatch":
        """Return some of the sequences, in some order."""
        sizes = np.diff(self.cu_seqlens)[order]
        indices = ragged(self.cu_seqlens[order], sizes)
        cu_seqlens = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        flat = (self.tokens[indices], self.segments[indices], self.positions[indices])
        return SentencePairBatch(*flat, cu_seqlens, self.is_next[order], self.keys[order])


class _Stretches(NamedTuple):
    """Ranges of documents, one or more for each window, in which sentences begin."""

    begins: Ids
    ends: Ids
    documents: tuple[Ids, Ids]
    """Begins and ends of the documents."""
    keys: Keys

    def __len__(self) -> int:
        return len(self.begins)


class _Parts(NamedTuple):
    """Text between separators, in the order of the stretches: sentences, or parts of them."""

    pool: Ids
    """Tokens of all parts, without separators."""
    stretch: Ids
    positions: Ids  # in the corpus
    begins: Ids  # in the pool
    sizes: Ids
    is_marked: NDArray[np.bool_]
    """True where a separator follows, so the sentence is complete."""

    def select(self, chosen: NDArray[np.bool_]) -> "_Parts":
        """Return some of them."""
        return _Parts(
            self.pool,
            self.stretch[chosen],
            self.positions[chosen],
            self.begins[chosen],
            self.sizes[chosen],
            self.is_marked[chosen],
        )


class SentencePairSampler:
    """Builds sequences of up to `length` tokens from windows of a corpus whose sentences are separated.

    A window has the sentences that begin in it, grouped by document; a document not longer than a window belongs
    entirely to the window it begins in. A document's sentences are split in two; with probability 1/2 the second
    part is replaced by text of the same size from another document. A single sentence stays alone, without a label.
    Without pairs, a sequence continues across documents until it is full, or, if `is_one_document`, has one document.
    """

    def __init__(
        self,
        corpus: Corpus,
        marks: Marks,
        length: int,
        has_pairs: bool,
        short_sequence_fraction: float = 0.0,
        is_one_document: bool = False,
    ) -> None:
        self.corpus, self.marks, self.length, self.has_pairs = corpus, marks, length, has_pairs
        self.short_sequence_fraction, self.is_one_document = short_sequence_fraction, has_pairs or is_one_document
        self.window = length - (3 if has_pairs else 2)
        """Tokens between the starts of two windows."""
        self.index = DocumentIndex(corpus)

    @cached_property
    def _sample(self) -> tuple[int, SentencePairBatch]:
        """Windows spread over the corpus: their number, and their sequences."""
        count = -(-len(self.corpus) // self.window)
        windows = np.unique(np.linspace(0, count - 1, SAMPLED).astype(np.int64))
        return len(windows), self.rows(windows * self.window, keys_at(key_of(SAMPLED), windows))

    @property
    def tokens_in_window(self) -> float:
        """Average number of tokens in the sequences of a window, estimated from a sample."""
        windows, rows = self._sample
        return max(1.0, int(rows.cu_seqlens[-1]) / windows)

    @property
    def pair_fraction(self) -> float:
        """Fraction of sequences that are pairs, estimated from a sample."""
        is_next = self._sample[1].is_next
        return int((is_next != NO_LABEL).sum()) / max(1, len(is_next))

    def rows(self, begins: Ids, keys: Keys) -> SentencePairBatch:
        """Return the sequences of windows that begin at some positions (possibly below 0), each with a key."""
        stretches = self._stretches(begins, keys)
        sentences = self._sentences(stretches)
        owners, firsts, counts = np.unique(sentences.stretch, return_index=True, return_counts=True)
        keys = stretches.keys[owners]
        begin = sentences.begins[firsts]
        lasts = firsts + counts - 1
        end = sentences.begins[lasts] + sentences.sizes[lasts]
        is_next = np.full(len(owners), NO_LABEL, np.int64)
        if not self.has_pairs:
            nothing = np.zeros(len(owners), np.int64)
            return self._framed(sentences.pool, (begin, end - begin), (nothing, nothing), is_next, keys)
        is_pair = counts > 1
        second = firsts + np.minimum(1 + (uniform(keys_at(keys, 0)) * (counts - 1)).astype(np.int64), counts - 1)
        middle = np.where(is_pair, sentences.begins[second], end)
        is_next[is_pair] = FOLLOWS
        others, sizes = middle.copy(), end - middle
        pool = sentences.pool
        documents = stretches.documents[0][owners], stretches.documents[1][owners]
        outside = len(self.corpus) - (documents[1] - documents[0])
        is_other = is_pair & (uniform(keys_at(keys, 1)) < 0.5)
        is_next[is_pair & (outside == 0)] = NO_LABEL  # there is no other document to sample from
        chosen = np.flatnonzero(is_other & (outside > 0))
        if len(chosen):
            positions = (uniform(keys_at(keys[chosen], 2)) * outside[chosen]).astype(np.int64)
            gap = documents[1][chosen] - documents[0][chosen]
            positions = np.where(positions < documents[0][chosen], positions, positions + gap)
            more, others[chosen], sizes[chosen] = self._texts_at(positions, sizes[chosen])
            others[chosen] += len(pool)
            pool = np.concatenate([pool, more])
            is_next[chosen] = IS_OTHER
        return self._framed(pool, (begin, middle - begin), (others, sizes), is_next, keys)

    def _stretches(self, begins: Ids, keys: Keys) -> _Stretches:
        """Return the stretches of some windows."""
        stops = np.minimum(begins + self.window, len(self.corpus))
        begins = np.maximum(begins, 0)
        if not self.is_one_document:
            everywhere = np.zeros_like(begins), np.full_like(begins, len(self.corpus))
            return _Stretches(begins, stops, everywhere, keys_at(keys, 0))
        tables = []
        windows, positions = np.arange(len(begins)), begins
        while len(windows):
            first, last = self.index.bounds(positions)
            begin, stop = begins[windows], stops[windows]
            is_whole = last - first <= self.window
            since = np.where(is_whole, first, np.maximum(first, begin))
            until = np.where(is_whole, last, np.minimum(last, stop))
            tables.append(np.stack([windows, since, until, first, last], 1)[since >= begin])
            continues = last < stop
            windows, positions = windows[continues], last[continues]
        table = np.concatenate(tables)
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        windows, since, until, first, last = table.T
        return _Stretches(since, until, (first, last), keys_at(keys[windows], since))

    def _sentences(self, stretches: _Stretches) -> _Parts:
        """Return the sentences that begin in some stretches."""
        begins = np.maximum(
            stretches.begins - 1, stretches.documents[0]
        )  # the token before shows whether a sentence starts
        ends = np.minimum(stretches.ends + LONGEST + 1, stretches.documents[1])
        parts = self._parts(begins, ends)
        owner = parts.stretch
        return parts.select((parts.positions >= stretches.begins[owner]) & (parts.positions < stretches.ends[owner]))

    def _parts(self, begins: Ids, ends: Ids) -> _Parts:
        """Return the parts between separators of some stretches.

        Sentence separators are left out of the pool, and document ends too unless sequences continue across them.
        """
        ids = self.corpus.gather(begins, ends)
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)])
        is_sentence = ids == self.marks.sentence
        is_mark = is_sentence | (ids == self.marks.document)
        marks = np.flatnonzero(is_mark)
        firsts = np.union1d(bounds[:-1][ends > begins], marks + 1)
        firsts = firsts[firsts < len(ids)]
        stretch = np.searchsorted(bounds, firsts, "right") - 1
        lasts = np.append(firsts, len(ids))[1:] - 1
        sizes = lasts + 1 - firsts - is_mark[lasts]
        is_dropped = is_mark if self.is_one_document else is_sentence
        dropped = marks if self.is_one_document else np.flatnonzero(is_sentence)
        parts = _Parts(
            pool=ids[~is_dropped],
            stretch=stretch,
            positions=firsts - bounds[stretch] + begins[stretch],
            begins=firsts - np.searchsorted(dropped, firsts),
            sizes=sizes,
            is_marked=is_mark[lasts],
        )
        return parts.select(sizes > 0)

    def _texts_at(self, positions: Ids, wanted: Ids) -> tuple[Ids, Ids, Ids]:
        """Return (tokens, begins of texts in them, sizes of texts).

        Each text begins with the sentence at a position and has as many sentences as fit in `wanted` tokens, at least
        one (none only in an empty document).
        """
        first, last = self.index.bounds(positions)
        ends = np.minimum(last, positions + np.maximum(LONGEST + 1, wanted + wanted // 8 + 8))
        parts = self._parts(np.maximum(first, positions - LONGEST - 1), ends)
        rows = np.arange(len(positions))
        scale = len(self.corpus) + 1  # orders positions by row first
        begin = np.searchsorted(parts.stretch * scale + parts.positions, rows * scale + positions, "right")
        at = np.searchsorted(parts.stretch, rows)
        begin = np.maximum(begin - 1, at)  # the sentence around the position, or the next one
        owner = parts.stretch
        total = np.append(0, np.cumsum(parts.sizes))
        number = np.arange(len(owner))
        reached = total[1:] - total[begin][owner]
        is_whole = parts.is_marked | (ends == last)[owner]
        is_taken = (number == begin[owner]) | ((number > begin[owner]) & (reached <= wanted[owner]) & is_whole)
        taken = np.bincount(owner, np.where(is_taken, parts.sizes, 0), len(positions)).astype(np.int64)
        starts = np.append(parts.begins, len(parts.pool))[begin]
        return parts.pool, starts, taken

    def _framed(
        self, pool: Ids, first: tuple[Ids, Ids], second: tuple[Ids, Ids], is_next: Ids, keys: Keys
    ) -> SentencePairBatch:
        """Return texts or pairs, given as (begins, sizes), truncated to fit and with special tokens.

        Truncation removes the beginning of the first text and the end of the second, from the longer one first, so
        that the two texts of a pair stay adjacent.
        """
        room = np.full(len(keys), self.window, np.int64)
        least = max(2, self.window // 8)
        is_truncated = uniform(keys_at(keys, 3)) < self.short_sequence_fraction
        room[is_truncated] = least + (uniform(keys_at(keys[is_truncated], 4)) * (self.window - least)).astype(
            np.int64
        )
        (begin_a, size_a), (begin_b, size_b) = first, second
        half = np.where(size_b > 0, room // 2, room)
        a = np.where(size_a <= half, size_a, np.maximum(half, room - size_b))
        a = np.minimum(a, size_a)
        b = np.minimum(size_b, room - a)
        has_second = b > 0
        begin_a = np.where(has_second, begin_a + size_a - a, begin_a)
        is_next = np.where(has_second, is_next, NO_LABEL)
        sizes = a + b + 2 + has_second
        cu_seqlens = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        begins = cu_seqlens[:-1]
        tokens = np.full(int(cu_seqlens[-1]), self.marks.separator, np.int64)
        tokens[begins] = self.marks.first
        tokens[ragged(begins + 1, a)] = pool[ragged(begin_a, a)]
        tokens[ragged(begins + a + 2, b)] = pool[ragged(begin_b, b)]
        if self.marks.document != self.marks.separator:
            tokens[tokens == self.marks.document] = self.marks.separator
        positions = ragged(np.zeros(len(sizes), np.int64), sizes)
        segments = (positions > np.repeat(a + 1, sizes)).astype(np.int64)
        return SentencePairBatch(tokens, segments, positions, cu_seqlens, is_next, keys)

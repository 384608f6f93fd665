"""Agreement of the two sides of a corpus line by line: a log-likelihood ratio against unrelated pairs of lines.

Two features show that lines are translations, whatever the languages: the length ratio is that of the corpus, and
words, numbers and marks that occur in both languages occur on both sides. The weight of each observation comes from
the corpus itself: its frequency in pairs over its frequency in lines far apart.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from regard.data.sources.pair import Pair

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LAGS = tuple(range(-5, 6))
"""Offsets in lines, target minus source, at which a translation is searched for."""
BLOCK = 8
"""Lines that are classified together: the resolution of the bounds of a span."""
SWITCH = 20.0
"""Penalty in nats for a change of the lag: the prior odds against one are e to this power."""
CLEARLY = 8.0
"""Standard errors by which another lag must agree better to become the main lag of the corpus."""

WORD = re.compile(r"\d+|[^\W\d]+|[^\w\s]")
COMMON = 0.3
"""Words in a larger fraction of the lines are ignored, like stop words."""
OVERLAP_EDGES = (1e-9, 0.25, 0.6)
GAP_QUANTILES = (0.3, 0.6, 0.8, 0.9, 0.97)
LENGTH_QUANTILES = (0.2, 0.4, 0.6, 0.8, 0.95)


@dataclass(frozen=True)
class Side:
    """The lines of one language: lengths, and the words that occur in the other language too."""

    lengths: Floats
    keys: Whole
    """line * vocabulary + word, ascending."""
    weights: Floats
    """Inverse document frequency of each word."""
    totals: Floats
    """The sum of the weights of each line."""


@dataclass(frozen=True)
class AgreementSpan:
    """Lines from `begin` up to `end` whose translation is `lag` lines below them; None: within no lag."""

    begin: int
    end: int
    lag: int | None


class Agreement:
    """Log-likelihood ratios of agreement in length and in words, estimated on a corpus."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        lines = [[words_of(pair[side]) for pair in pairs] for side in (0, 1)]
        self._learn_words(lines, len(pairs))
        source, target = (self._side([pair[side] for pair in pairs], lines[side]) for side in (0, 1))
        self.ratio = float(np.median(target.lengths - source.lengths))
        far = [len(pairs) // part for part in (2, 3, 4)]
        lag = self._main_lag(source, target, far[0])
        gaps, sizes, _ = self._compare(source, target, lag)
        self.edges = np.quantile(gaps, GAP_QUANTILES), np.quantile(sizes, LENGTH_QUANTILES)
        near = self._kinds(source, target, lag)
        unrelated = [np.concatenate(kinds) for kinds in zip(*(self._kinds(source, target, lag) for lag in far))]
        self.log_ratios = [_log_ratio(*kinds) for kinds in zip(near, unrelated)]

    def evidence(self, pairs: Sequence[Pair]) -> Floats:
        """Return (line, lag): the log-likelihood ratio that the target at that lag translates the line."""
        source, target = (
            self._side([pair[side] for pair in pairs], [words_of(pair[side]) for pair in pairs]) for side in (0, 1)
        )
        evidence = np.zeros((len(pairs), len(LAGS)))  # 0: no evidence, as outside the file
        for column, lag in enumerate(LAGS):
            if abs(lag) < len(pairs):
                kinds = self._kinds(source, target, lag)
                evidence[_inside(len(pairs), lag), column] = sum(
                    ratio[kind] for ratio, kind in zip(self.log_ratios, kinds)
                )
        return evidence

    def _learn_words(self, lines: list[list[set[str]]], count: int) -> None:
        source, target = (Counter(chain.from_iterable(side)) for side in lines)
        both = {word: max(number, target[word]) for word, number in source.items() if word in target}
        kept = {word: number for word, number in both.items() if number <= COMMON * count}
        self.ids = {word: number for number, word in enumerate(kept)}
        self.word_weights = np.log(count / np.array([*kept.values(), count], dtype=float))

    def _side(self, texts: Sequence[str], lines: Sequence[set[str]]) -> Side:
        ids = self.ids
        word_ids = [sorted(ids[word] for word in words if word in ids) for words in lines]
        flat = np.fromiter(chain.from_iterable(word_ids), np.int64)
        rows = np.repeat(np.arange(len(lines)), [len(words) for words in word_ids])
        weights = self.word_weights[flat]
        totals = np.bincount(rows, weights, minlength=len(lines)).astype(float)
        lengths = np.log([len(text) + 5.0 for text in texts])  # short lines have wild ratios
        return Side(lengths, rows * len(self.word_weights) + flat, weights, totals)

    def _compare(self, source: Side, target: Side, lag: int) -> tuple[Floats, Floats, Floats]:
        """Return for each source with a target at that lag: length gap, mean length, word overlap (-1: no words)."""
        count, vocabulary = len(source.lengths), len(self.word_weights)
        here, there = _inside(count, lag), _inside(count, -lag)
        gaps = np.abs(target.lengths[there] - source.lengths[here] - self.ratio)
        sizes = (target.lengths[there] + source.lengths[here]) / 2
        hits = np.isin(source.keys, target.keys - lag * vocabulary, assume_unique=True)
        shared = np.bincount(source.keys[hits] // vocabulary, source.weights[hits], minlength=count)
        totals = np.sqrt(source.totals[here] * target.totals[there])
        return gaps, sizes, np.where(totals > 0, shared[here] / np.maximum(totals, 1e-9), -1.0)

    def _kinds(self, source: Side, target: Side, lag: int) -> tuple[Whole, Whole]:
        """Return for each source with a target at that lag its class of agreement in length, and in words."""
        gaps, sizes, overlap = self._compare(source, target, lag)
        length = np.searchsorted(self.edges[1], sizes) * (len(GAP_QUANTILES) + 1) + np.searchsorted(
            self.edges[0], gaps
        )
        return length, np.where(overlap < 0, 0, 1 + np.searchsorted(OVERLAP_EDGES, overlap))

    def _main_lag(self, source: Side, target: Side, far: int) -> int:
        """Return the lag at which most of the corpus agrees: 0, unless another one is clearly better."""
        unrelated = self._compare(source, target, far)
        scales = [max(float(np.std(unrelated[part])), 1e-9) for part in (0, 2)]

        def agreement(lag: int) -> Floats:
            gaps, _, overlap = self._compare(source, target, lag)
            scores = np.zeros(len(source.lengths))
            scores[_inside(len(scores), lag)] = overlap / scales[1] - gaps / scales[0]
            return scores

        unshifted = agreement(0)
        gains = {}
        for lag in LAGS:
            if lag:
                gain = agreement(lag) - unshifted
                gains[lag] = float(gain.mean() / max(gain.std() / np.sqrt(len(gain)), 1e-9))
        best = max(gains, key=lambda lag: gains[lag])
        return best if gains[best] > CLEARLY else 0


def misaligned_spans(evidence: Floats) -> list[AgreementSpan]:
    """Return the lines whose translation seems to be elsewhere: the most probable path of lags (Viterbi)."""
    nowhere = len(LAGS)
    starts = np.arange(0, len(evidence), BLOCK)
    blocks = np.add.reduceat(
        np.pad(evidence, ((0, 0), (0, 1))), starts
    )  # (block, state); the state "nowhere" scores 0
    states = np.arange(len(LAGS) + 1)
    best = blocks[0] - SWITCH * (states != LAGS.index(0))
    origins: list[Whole] = []
    for block in blocks[1:]:
        top = int(best.argmax())
        origins.append(np.where(best >= best[top] - SWITCH, states, top))
        best = np.maximum(best, best[top] - SWITCH) + block
    path = [int(best.argmax())]
    for previous in reversed(origins):
        path.append(int(previous[path[-1]]))
    spans: list[AgreementSpan] = []
    for state, start in zip(reversed(path), starts.tolist()):
        end, lag = min(start + BLOCK, len(evidence)), None if state == nowhere else LAGS[state]
        if spans and spans[-1].lag == lag and spans[-1].end == start:
            spans[-1] = AgreementSpan(spans[-1].begin, end, lag)
        elif lag != 0:
            spans.append(AgreementSpan(start, end, lag))
    return spans


def words_of(text: str) -> set[str]:
    """Return the words, numbers and marks of a text, case-folded in Unicode NFKC."""
    return set(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _inside(count: int, lag: int) -> slice:
    """Return the lines that have a neighbor `lag` lines below them."""
    return slice(max(0, -lag), count - max(0, lag))


def _log_ratio(near: Whole, far: Whole) -> Floats:
    """Return the log ratio of the frequency of each class near and far, smoothed."""
    kinds = (len(GAP_QUANTILES) + 1) * (len(LENGTH_QUANTILES) + 1)
    counts = [np.bincount(each, minlength=kinds) for each in (near, far)]
    return np.log((counts[0] + 1.0) / (counts[1] * len(near) / len(far) + 1.0))

"""How well the two sides of a corpus go together line by line, measured against pairs of lines far apart.

Two things speak for a pair without knowing its languages: its sides are as long as this corpus lets one expect, and
words, numbers and marks that occur in both languages occur on both sides. What each observation is worth is read
off the corpus itself: how often it is made in pairs, over how often in lines that have nothing to do with each other.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.sources.pair import Pair

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LAGS = tuple(range(-5, 6))
"""Where a translation is looked for: so many lines below its source."""
BLOCK = 8
"""Lines that are judged together: where a run begins is known to so many lines."""
SWITCH = 20.0
"""Evidence in nats that it takes to believe in a change: the odds against one are e to this power."""
CLEARLY = 8.0
"""Standard errors by which another lag must agree better before it is taken for the corpus's own."""

WORD = re.compile(r"\d+|[^\W\d]+|[^\w\s]")
COMMON = 0.3
"""A word in a larger share of the lines says nothing about one."""
OVERLAP_EDGES = (1e-9, 0.25, 0.6)
GAP_QUANTILES = (0.3, 0.6, 0.8, 0.9, 0.97)
LENGTH_QUANTILES = (0.2, 0.4, 0.6, 0.8, 0.95)


@dataclass(frozen=True)
class Side:
    """The lines of one language: their lengths, and the words in them that the other language has, too."""

    lengths: Floats
    keys: Whole
    """line * vocabulary + word, rising."""
    weights: Floats
    """What each word is worth: rare ones are worth more."""
    totals: Floats
    """The worth of all words of a line."""


@dataclass(frozen=True)
class AgreementSpan:
    """Lines from `begin` up to `end` whose translation stands `lag` lines below them; None: nowhere near."""

    begin: int
    end: int
    lag: int | None


class Agreement:
    """What agreement is worth in a corpus."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        lines = [[words_of(pair[side]) for pair in pairs] for side in (0, 1)]
        self._learn_words(lines, len(pairs))
        source, target = (self._side([pair[side] for pair in pairs], lines[side]) for side in (0, 1))
        self.ratio = float(np.median(target.lengths - source.lengths))
        far = [len(pairs) // part for part in (2, 3, 4)]
        lag = self._own_lag(source, target, far[0])
        gaps, sizes, _ = self._compare(source, target, lag)
        self.edges = np.quantile(gaps, GAP_QUANTILES), np.quantile(sizes, LENGTH_QUANTILES)
        beside = self._kinds(source, target, lag)
        apart = [np.concatenate(kinds) for kinds in zip(*(self._kinds(source, target, lag) for lag in far))]
        self.worths = [_log_ratio(near, random) for near, random in zip(beside, apart)]

    def evidence(self, pairs: Sequence[Pair]) -> Floats:
        """Return (line, lag): log odds that the target so many lines below belongs to a source, over chance."""
        source, target = (
            self._side([pair[side] for pair in pairs], [words_of(pair[side]) for pair in pairs]) for side in (0, 1)
        )
        found = np.zeros((len(pairs), len(LAGS)))  # outside the file nothing speaks for or against
        for column, lag in enumerate(LAGS):
            if abs(lag) < len(pairs):
                kinds = self._kinds(source, target, lag)
                found[_inside(len(pairs), lag), column] = sum(worth[kind] for worth, kind in zip(self.worths, kinds))
        return found

    def _learn_words(self, lines: list[list[set[str]]], count: int) -> None:
        seen: list[dict[str, int]] = [{}, {}]
        for found, side in zip(seen, lines):
            for words in side:
                for word in words:
                    found[word] = found.get(word, 0) + 1
        both = {word: max(number, seen[1][word]) for word, number in seen[0].items() if word in seen[1]}
        kept = {word: number for word, number in both.items() if number <= COMMON * count}
        self.ids = {word: number for number, word in enumerate(kept)}
        self.worth_of_words = np.log(count / np.array([*kept.values(), count], dtype=float))

    def _side(self, texts: Sequence[str], lines: Sequence[set[str]]) -> Side:
        ids = self.ids
        found = [sorted(ids[word] for word in words if word in ids) for words in lines]
        flat = np.fromiter((number for words in found for number in words), np.int64)
        rows = np.repeat(np.arange(len(lines)), [len(words) for words in found])
        weights = self.worth_of_words[flat]
        totals = np.bincount(rows, weights, minlength=len(lines)).astype(float)
        lengths = np.log([len(text) + 5.0 for text in texts])  # short lines have wild ratios
        return Side(lengths, rows * len(self.worth_of_words) + flat, weights, totals)

    def _compare(self, source: Side, target: Side, lag: int) -> tuple[Floats, Floats, Floats]:
        """Return for each source with a target at that lag: the gap in length, the length, the share of words."""
        count, vocabulary = len(source.lengths), len(self.worth_of_words)
        here, there = _inside(count, lag), _inside(count, -lag)
        gaps = np.abs(target.lengths[there] - source.lengths[here] - self.ratio)
        sizes = (target.lengths[there] + source.lengths[here]) / 2
        hits = np.isin(source.keys, target.keys - lag * vocabulary, assume_unique=True)
        shared = np.bincount(source.keys[hits] // vocabulary, source.weights[hits], minlength=count)
        whole = np.sqrt(source.totals[here] * target.totals[there])
        return gaps, sizes, np.where(whole > 0, shared[here] / np.maximum(whole, 1e-9), -1.0)

    def _kinds(self, source: Side, target: Side, lag: int) -> tuple[Whole, Whole]:
        """Return for each source with a target at that lag its kind of agreement in length, and in words."""
        gaps, sizes, overlap = self._compare(source, target, lag)
        length = np.searchsorted(self.edges[1], sizes) * (len(GAP_QUANTILES) + 1) + np.searchsorted(
            self.edges[0], gaps
        )
        return length, np.where(overlap < 0, 0, 1 + np.searchsorted(OVERLAP_EDGES, overlap))

    def _own_lag(self, source: Side, target: Side, far: int) -> int:
        """Return the lag at which the corpus agrees: 0, unless another one is clearly better."""
        apart = self._compare(source, target, far)
        scales = [max(float(np.std(apart[part])), 1e-9) for part in (0, 2)]

        def agreement(lag: int) -> Floats:
            gaps, _, overlap = self._compare(source, target, lag)
            found = np.zeros(len(source.lengths))
            found[_inside(len(found), lag)] = overlap / scales[1] - gaps / scales[0]
            return found

        beside = agreement(0)
        gains = {}
        for lag in LAGS:
            if lag:
                gain = agreement(lag) - beside
                gains[lag] = float(gain.mean() / max(gain.std() / np.sqrt(len(gain)), 1e-9))
        best = max(gains, key=lambda lag: gains[lag])
        return best if gains[best] > CLEARLY else 0


def runs(evidence: Floats) -> list[AgreementSpan]:
    """Return the lines whose translation seems to stand elsewhere: the likeliest course through the lags."""
    nowhere = len(LAGS)
    starts = np.arange(0, len(evidence), BLOCK)
    blocks = np.add.reduceat(np.pad(evidence, ((0, 0), (0, 1))), starts)  # (block, state); nowhere earns nothing
    states = np.arange(len(LAGS) + 1)
    best = blocks[0] - SWITCH * (states != LAGS.index(0))
    came: list[Whole] = []
    for block in blocks[1:]:
        top = int(best.argmax())
        came.append(np.where(best >= best[top] - SWITCH, states, top))
        best = np.maximum(best, best[top] - SWITCH) + block
    course = [int(best.argmax())]
    for previous in reversed(came):
        course.append(int(previous[course[-1]]))
    found: list[AgreementSpan] = []
    for state, start in zip(reversed(course), starts.tolist()):
        end, lag = min(start + BLOCK, len(evidence)), None if state == nowhere else LAGS[state]
        if found and found[-1].lag == lag and found[-1].end == start:
            found[-1] = AgreementSpan(found[-1].begin, end, lag)
        elif lag != 0:
            found.append(AgreementSpan(start, end, lag))
    return found


def words_of(text: str) -> set[str]:
    """Return the words, numbers and marks of a text, in one form for all scripts that have several."""
    return set(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _inside(count: int, lag: int) -> slice:
    """Return the lines that have a neighbor `lag` lines below them."""
    return slice(max(0, -lag), count - max(0, lag))


def _log_ratio(near: Whole, far: Whole) -> Floats:
    """Return the log of how much more often each kind is seen near than far."""
    kinds = (len(GAP_QUANTILES) + 1) * (len(LENGTH_QUANTILES) + 1)
    counts = [np.bincount(each, minlength=kinds) for each in (near, far)]
    return np.log((counts[0] + 1.0) / (counts[1] * len(near) / len(far) + 1.0))

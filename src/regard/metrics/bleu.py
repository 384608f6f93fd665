"""BLEU as its paper defines it (Papineni et al., 2002, §2), unsmoothed, with every intermediate number kept."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Ngram = tuple[str, ...]


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """Return the n-grams of a sentence, in order."""
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]


@dataclass(frozen=True)
class Precision:
    """The n-grams of a corpus that occur in a reference: matches before and after clipping."""

    n: int
    matched: int
    clipped: int
    total: int

    @property
    def value(self) -> float:
        """The clipped precision p_n."""
        return self.clipped / self.total if self.total else 0.0


@dataclass(frozen=True)
class BleuExplanation:
    """The components of a BLEU score: precisions for n = 1..N, lengths c and r, and the brevity penalty."""

    precisions: tuple[Precision, ...]
    hypothesis_length: int
    reference_length: int

    @property
    def brevity_penalty(self) -> float:
        """1 where the hypotheses are longer than the references, else e^(1 - r/c)."""
        c, r = self.hypothesis_length, self.reference_length
        if c > r:
            return 1.0
        return math.exp(1 - r / c) if c else 0.0

    def score(self, n: int) -> float:
        """BLEU-n between 0 and 1: the penalty times the geometric mean of p_1..p_n."""
        values = [precision.value for precision in self.precisions[:n]]
        if min(values) == 0:
            return 0.0  # unsmoothed: one order without a match makes the product 0
        return self.brevity_penalty * math.exp(math.fsum(map(math.log, values)) / n)


def explain_bleu(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], orders: int = 4
) -> BleuExplanation:
    """Return the components of corpus BLEU for tokenized hypotheses with one or more tokenized references each."""
    precisions = tuple(_precision(hypotheses, references, n) for n in range(1, orders + 1))
    closest = [
        min((len(reference) for reference in choices), key=lambda r: (abs(r - len(hypothesis)), r))
        for hypothesis, choices in zip(hypotheses, references, strict=True)
    ]
    return BleuExplanation(precisions, sum(map(len, hypotheses)), sum(closest))


def _precision(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], n: int
) -> Precision:
    matched = clipped = total = 0
    for hypothesis, choices in zip(hypotheses, references, strict=True):
        counts = Counter(ngrams(hypothesis, n))
        largest = _largest_counts(choices, n)
        total += counts.total()
        matched += sum(count for ngram, count in counts.items() if ngram in largest)
        clipped += (counts & largest).total()
    return Precision(n, matched, clipped, total)


def _largest_counts(choices: Sequence[Sequence[str]], n: int) -> Counter[Ngram]:
    """Return, for each n-gram, its largest count in any one reference."""
    largest: Counter[Ngram] = Counter()
    for reference in choices:
        largest |= Counter(ngrams(reference, n))
    return largest


@dataclass(frozen=True)
class Match:
    """One n-gram of a hypothesis: its count there, in each reference, and its clipped count."""

    ngram: Ngram
    count: int
    in_references: tuple[int, ...]

    @property
    def clipped(self) -> int:
        """The count that enters the score."""
        return min(self.count, max(self.in_references))


def matches(hypothesis: Sequence[str], references: Sequence[Sequence[str]], n: int) -> list[Match]:
    """Return every distinct n-gram of one hypothesis with its counts, in order of first appearance."""
    counted = [Counter(ngrams(reference, n)) for reference in references]
    return [
        Match(ngram, count, tuple(counts[ngram] for counts in counted))
        for ngram, count in Counter(ngrams(hypothesis, n)).items()
    ]

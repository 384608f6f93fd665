"""Span metrics: IOB tags to entity spans, by conlleval's rules, and back; precision, recall and F1."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic

OUTSIDE = "O"
MARKS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I"}
"""Tag prefixes mapped to BIOES: begin, inside, end, single; BILOU and BMES use other names for some of them."""

Scheme = Literal["iob1", "iob2", "bioes", "none"]
"""iob1: B only between adjacent spans of one kind; iob2: B starts every span; bioes: ends too; none: no spans."""


class Entity(NamedTuple):
    """A span of words [begin, end) and its kind."""

    kind: str
    begin: int
    end: int


def split_tag(tag: str) -> tuple[str, str]:
    """Return the prefix of a tag and the kind of its span; both empty outside of spans."""
    mark, _, kind = tag.partition("-")
    return ("", "") if tag == OUTSIDE else (MARKS.get(mark, mark), kind)


def marks_spans(tags: Iterable[str]) -> bool:
    """Return True if tags mark spans; part-of-speech tags do not."""
    marked = set(tags) - {OUTSIDE}
    return bool(marked) and all("-" in tag and tag.partition("-")[0] in MARKS for tag in marked)


def entities(tags: Sequence[str]) -> list[Entity]:
    """Return the spans that the tags of one sentence mark, in any scheme, invalid sequences included.

    The rules are conlleval's: a span begins at any tag that is not O where the one before is O or of another kind,
    at every B (or S), and after every end (E or S).
    """
    spans: list[Entity] = []
    before, begin = ("", ""), 0
    for position, tag in enumerate([*tags, OUTSIDE]):
        mark, kind = split_tag(tag)
        begins = bool(mark) and (not before[0] or kind != before[1] or mark in "BS" or before[0] in "ES")
        if before[0] and (begins or not mark):
            spans.append(Entity(before[1], begin, position))
        if begins:
            begin = position
        before = (mark, kind)
    return spans


def as_iob2(spans: Iterable[Entity], words: int) -> list[str]:
    """Return the IOB2 tags of spans in a sentence of `words` words: B at the start of a span, I inside."""
    tags = [OUTSIDE] * words
    for kind, begin, end in spans:
        tags[begin:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - begin - 1)
    return tags


class SchemeReport(NamedTuple):
    """The tagging scheme of sentences, and the number of violations."""

    scheme: Scheme
    broken: int


def find_scheme(sentences: Iterable[Sequence[str]]) -> SchemeReport:
    """Return the scheme of tagged sentences, and the number of spans or tags that violate it."""
    sentences = list(sentences)
    if not marks_spans(tag for tags in sentences for tag in tags):
        return SchemeReport("none", 0)
    seen: Counter[str] = Counter()
    for tags in sentences:
        seen += _scheme_evidence(tags)
    if seen["E"] or seen["S"]:
        return SchemeReport("bioes", seen["incomplete"])
    if seen["B between"] + seen["I first"] and not seen["B after O"]:
        return SchemeReport("iob1", 0)
    return SchemeReport("iob2", seen["I first"])


def _scheme_evidence(tags: Sequence[str]) -> Counter[str]:
    """Count the patterns of one sentence that distinguish schemes."""
    seen: Counter[str] = Counter()
    marks = [split_tag(tag) for tag in tags]
    for kind, begin, end in entities(tags):
        first, last = marks[begin][0], marks[end - 1][0]
        seen[last] += 1
        if first in "IE":
            seen["I first"] += 1
        elif first == "B":
            seen["B between" if begin and marks[begin - 1][1] == kind else "B after O"] += 1
        seen["incomplete"] += first + last != ("SS" if end - begin == 1 else "BE")
    return seen


@dataclass(frozen=True)
class SpanScore:
    """Precision, recall and F1 of the spans of one kind (or of all): `count` true, `found` predicted spans."""

    kind: str
    precision: float
    recall: float
    f1: float
    count: int
    found: int


@dataclass(frozen=True)
class SpanScores:
    """Metrics over all spans and by kind, and the tag accuracy over words."""

    all: SpanScore
    kinds: tuple[SpanScore, ...]
    accuracy: float


def span_scores(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> SpanScores:
    """Return the metrics of tagged sentences: a span is correct if its kind and both its ends are."""
    right: Counter[str] = Counter()
    true: Counter[str] = Counter()
    output: Counter[str] = Counter()
    for one, other in zip(truth, predicted, strict=True):
        gold, predictions = set(entities(one)), set(entities(other))
        true.update(each.kind for each in gold)
        output.update(each.kind for each in predictions)
        right.update(each.kind for each in gold & predictions)
    kinds = tuple(_score(kind, right[kind], true[kind], output[kind]) for kind in sorted({*true, *output}))
    words = [one == other for left, right in zip(truth, predicted) for one, other in zip(left, right, strict=True)]
    overall = _score("all", right.total(), true.total(), output.total())
    return SpanScores(overall, kinds, sum(words) / len(words) if words else 0.0)


def _score(kind: str, right: int, true: int, output: int) -> SpanScore:
    precision, recall = right / output if output else 0.0, right / true if true else 0.0
    return SpanScore(kind, precision, recall, 2 * right / (true + output) if true + output else 0.0, true, output)


def span_statistics(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, Statistic]:
    """Return F1 as a function of how often each sentence counts."""
    rows = [(set(entities(one)), set(entities(other))) for one, other in zip(truth, predicted, strict=True)]
    counted = np.array([(len(one & other), len(one) + len(other)) for one, other in rows], float).reshape(-1, 2)

    def f1(counts: Numbers) -> float:
        right, sizes = counts @ counted
        return float(2 * right / sizes) if sizes else 0.0

    return {"f1": f1}

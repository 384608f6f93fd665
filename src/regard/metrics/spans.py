"""Tags of words to the spans they mark, as conlleval reads them, and back; how well spans are found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic

OUTSIDE = "O"
MARKS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I"}
"""What the letter before the hyphen means: begin, inside, end, single; BILOU and BMES call some of them otherwise."""

Scheme = Literal["iob1", "iob2", "bioes", "none"]
"""How a file marks spans: B only between neighbors of one kind, B at every beginning, ends too; or not at all."""


class Entity(NamedTuple):
    """A span of words, from `begin` to before `end`, and its kind."""

    kind: str
    begin: int
    end: int


def split_tag(tag: str) -> tuple[str, str]:
    """Return the mark of a tag and the kind of its span; both empty outside of spans."""
    mark, _, kind = tag.partition("-")
    return ("", "") if tag == OUTSIDE else (MARKS.get(mark, mark), kind)


def marks_spans(tags: Iterable[str]) -> bool:
    """Tell whether tags mark spans at all: parts of speech, for one, do not."""
    found = set(tags)
    marked = found - {OUTSIDE}
    return bool(marked) and all("-" in tag and tag.partition("-")[0] in MARKS for tag in marked)


def entities(tags: Sequence[str]) -> list[Entity]:
    """Return the spans that the tags of one sentence mark, whatever their scheme, broken sequences included.

    The rules are conlleval's: a span begins at any tag that is not O where the one before is O or of another kind,
    at every B (or S), and behind every end (E or S).
    """
    found: list[Entity] = []
    before, begin = ("", ""), 0
    for place, tag in enumerate([*tags, OUTSIDE]):
        mark, kind = split_tag(tag)
        begins = bool(mark) and (not before[0] or kind != before[1] or mark in "BS" or before[0] in "ES")
        if before[0] and (begins or not mark):
            found.append(Entity(before[1], begin, place))
        if begins:
            begin = place
        before = (mark, kind)
    return found


def as_iob2(spans: Iterable[Entity], words: int) -> list[str]:
    """Return the tags that mark spans in so many words: B at every beginning, I behind it."""
    tags = [OUTSIDE] * words
    for kind, begin, end in spans:
        tags[begin:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - begin - 1)
    return tags


class SchemeReport(NamedTuple):
    """How sentences mark spans, and how many tags do not keep to that."""

    scheme: Scheme
    broken: int


def find_scheme(sentences: Iterable[Sequence[str]]) -> SchemeReport:
    """Return the scheme of tagged sentences, and how many spans or tags break its rules."""
    sentences = list(sentences)
    if not marks_spans(tag for tags in sentences for tag in tags):
        return SchemeReport("none", 0)
    seen: Counter[str] = Counter()
    for tags in sentences:
        seen += _habits(tags)
    if seen["E"] or seen["S"]:
        return SchemeReport("bioes", seen["not whole"])
    if seen["B that parts"] + seen["I that begins"] and not seen["B behind O"]:
        return SchemeReport("iob1", 0)
    return SchemeReport("iob2", seen["I that begins"])


def _habits(tags: Sequence[str]) -> Counter[str]:
    """Count what tells schemes apart in one sentence."""
    seen: Counter[str] = Counter()
    marks = [split_tag(tag) for tag in tags]
    for kind, begin, end in entities(tags):
        first, last = marks[begin][0], marks[end - 1][0]
        seen[last] += 1
        if first in "IE":
            seen["I that begins"] += 1
        elif first == "B":
            seen["B that parts" if begin and marks[begin - 1][1] == kind else "B behind O"] += 1
        seen["not whole"] += first + last != ("SS" if end - begin == 1 else "BE")
    return seen


@dataclass(frozen=True)
class SpanScore:
    """How well the spans of one kind (or of all) are found: `count` are true, `found` were said."""

    kind: str
    precision: float
    recall: float
    f1: float
    count: int
    found: int


@dataclass(frozen=True)
class SpanScores:
    """Figures over all spans together, by kind, and the share of words whose tag is right."""

    all: SpanScore
    kinds: tuple[SpanScore, ...]
    accuracy: float


def span_scores(truth: Sequence[Sequence[str]], said: Sequence[Sequence[str]]) -> SpanScores:
    """Return the scores of tagged sentences: a span is right if its kind and both its ends are."""
    right: Counter[str] = Counter()
    true: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for one, other in zip(truth, said, strict=True):
        meant, found = set(entities(one)), set(entities(other))
        true.update(each.kind for each in meant)
        told.update(each.kind for each in found)
        right.update(each.kind for each in meant & found)
    kinds = tuple(_score(kind, right[kind], true[kind], told[kind]) for kind in sorted({*true, *told}))
    words = [one == other for left, right in zip(truth, said) for one, other in zip(left, right, strict=True)]
    whole = _score("all", right.total(), true.total(), told.total())
    return SpanScores(whole, kinds, sum(words) / len(words) if words else 0.0)


def _score(kind: str, right: int, true: int, told: int) -> SpanScore:
    precision, recall = right / told if told else 0.0, right / true if true else 0.0
    return SpanScore(kind, precision, recall, 2 * right / (true + told) if true + told else 0.0, true, told)


def span_statistics(truth: Sequence[Sequence[str]], said: Sequence[Sequence[str]]) -> dict[str, Statistic]:
    """Return F1 as a function of how often each sentence counts."""
    rows = [(set(entities(one)), set(entities(other))) for one, other in zip(truth, said, strict=True)]
    counted = np.array([(len(one & other), len(one) + len(other)) for one, other in rows], float).reshape(-1, 2)

    def f1(counts: Numbers) -> float:
        right, sizes = counts @ counted
        return float(2 * right / sizes) if sizes else 0.0

    return {"f1": f1}

"""Spans out of tags, as conlleval reads them."""

import random

import numpy as np
import pytest

from regard.metrics.spans import as_iob2, entities, find_scheme, span_scores, span_statistics


def conlleval(truth: list[str], said: list[str]) -> tuple[int, int, int]:
    """Return right, true and said chunks, by the rules of conlleval.pl written out one by one."""

    def parts(tag):
        mark, _, kind = tag.partition("-")
        return mark, kind

    def ends(before, tag, kind_before, kind):
        pairs = (("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O"))
        return (before, tag) in pairs or (before != "O" and kind_before != kind)

    def starts(before, tag, kind_before, kind):
        pairs = (("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E"))
        return (before, tag) in pairs or (tag != "O" and kind_before != kind)

    inside, right, true, told = False, 0, 0, 0
    last, last_said = ("O", ""), ("O", "")
    for one, other in zip([*truth, "O"], [*said, "O"]):
        now, now_said = parts(one), parts(other)
        if inside:
            ended = ends(last[0], now[0], last[1], now[1])
            ended_said = ends(last_said[0], now_said[0], last_said[1], now_said[1])
            if ended and ended_said and last[1] == last_said[1]:
                inside, right = False, right + 1
            elif ended != ended_said or now[1] != now_said[1]:
                inside = False
        begun = starts(last[0], now[0], last[1], now[1])
        begun_said = starts(last_said[0], now_said[0], last_said[1], now_said[1])
        if begun and begun_said and now[1] == now_said[1]:
            inside = True
        true, told = true + begun, told + begun_said
        last, last_said = now, now_said
    return right, true, told


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("O O O", []),
        ("B-PER I-PER O", [("PER", 0, 2)]),
        ("B-PER B-PER I-PER", [("PER", 0, 1), ("PER", 1, 3)]),
        ("I-PER I-PER O I-LOC", [("PER", 0, 2), ("LOC", 3, 4)]),
        ("I-PER B-PER I-PER", [("PER", 0, 1), ("PER", 1, 3)]),
        ("B-PER I-LOC I-LOC", [("PER", 0, 1), ("LOC", 1, 3)]),
        ("O I-creative-work O B-creative-work", [("creative-work", 1, 2), ("creative-work", 3, 4)]),
        ("S-PER S-PER B-LOC I-LOC E-LOC", [("PER", 0, 1), ("PER", 1, 2), ("LOC", 2, 5)]),
        ("B-LOC E-LOC I-LOC O", [("LOC", 0, 2), ("LOC", 2, 3)]),
        ("U-PER B-LOC L-LOC", [("PER", 0, 1), ("LOC", 1, 3)]),
        ("B-PER", [("PER", 0, 1)]),
    ],
)
def test_spans_of_whole_and_broken_sequences(tags, found):
    assert entities(tags.split()) == found


def test_counts_are_those_of_conlleval_on_random_tags():
    draw = random.Random(0)
    choices = ["O", "O", "B-x", "I-x", "B-y", "I-y"]
    for _ in range(500):
        size = draw.randint(1, 9)
        truth, said = draw.choices(choices, k=size), draw.choices(choices, k=size)
        right, true, told = conlleval(truth, said)
        found = span_scores([truth], [said]).all
        assert (found.count, found.found) == (true, told), (truth, said)
        assert found.f1 == pytest.approx(2 * right / (true + told) if true + told else 0.0), (truth, said)


def test_figures_by_hand():
    truth = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "O"]]
    said = [["B-PER", "I-PER", "O", "O"], ["B-PER", "O"]]
    found = span_scores(truth, said)
    assert (found.all.precision, found.all.recall) == (1 / 2, 1 / 3)
    assert found.all.f1 == pytest.approx(0.4)
    assert [(each.kind, each.count, each.found, each.f1) for each in found.kinds] == [
        ("LOC", 2, 0, 0.0),
        ("PER", 1, 2, pytest.approx(2 / 3)),
    ]
    assert found.accuracy == 4 / 6


def test_sentences_are_apart():
    assert span_scores([["B-x"], ["I-x"]], [["B-x"], ["I-x"]]).all.count == 2


@pytest.mark.parametrize(
    ("sentences", "scheme", "broken"),
    [
        (["B-x I-x O", "O B-y"], "iob2", 0),
        (["I-x I-x O", "I-y B-y"], "iob1", 0),
        (["B-x I-x O", "O I-y"], "iob2", 1),
        (["B-x E-x O", "S-y O"], "bioes", 0),
        (["B-x O O", "S-y O"], "bioes", 1),
        (["U-x O", "B-y L-y"], "bioes", 0),
        (["DET NOUN", "VERB O"], "none", 0),
        (["O O"], "none", 0),
    ],
)
def test_the_scheme_is_told_from_the_tags(sentences, scheme, broken):
    assert find_scheme([each.split() for each in sentences]) == (scheme, broken)


def test_every_scheme_comes_out_as_iob2():
    spans = [("x", 0, 2), ("x", 2, 3), ("y", 4, 5)]
    for tags in ("I-x I-x B-x O I-y", "B-x I-x B-x O B-y", "B-x E-x S-x O S-y"):
        assert as_iob2(entities(tags.split()), 5) == ["B-x", "I-x", "B-x", "O", "B-y"]
        assert entities(tags.split()) == spans


def test_a_sentence_that_counts_twice_is_there_twice():
    truth = [["B-x", "O"], ["O", "B-y"], ["B-x", "I-x"]]
    said = [["B-x", "O"], ["B-y", "O"], ["B-x", "O"]]
    f1 = span_statistics(truth, said)["f1"]
    assert f1(np.array([1.0, 1.0, 1.0])) == pytest.approx(span_scores(truth, said).all.f1)
    assert f1(np.array([2.0, 0.0, 1.0])) == pytest.approx(
        span_scores([truth[0]] * 2 + truth[2:], [said[0]] * 2 + said[2:]).all.f1
    )
    assert f1(np.zeros(3)) == 0.0

import random

import numpy as np
import pytest

from regard.metrics.comparison import ComparedMetric, Difference
from regard.metrics.significance import paired_bootstrap
from regard.metrics.translation import paper_scores, scores_and_statistics, translation_scores


def corrupted(sentences, share, seed):
    """Return the sentences with some of their words replaced."""
    drawn = random.Random(seed)
    return [
        " ".join("wrong" if drawn.random() < share else word for word in sentence.split()) for sentence in sentences
    ]


@pytest.fixture(scope="module")
def meant(pairs):
    return [pair.target for pair in pairs[:120]]


def paired_tests(first, second, targets, names=("BLEU", "chrF", "TER"), resamples=1000, seed=12345):
    """Return the paired tests of two lists of hypotheses."""
    references = [[target] for target in targets]
    (scores, one), (_, other) = (scores_and_statistics(each, references, names) for each in (first, second))
    metrics = [ComparedMetric(each.key, each.name, best="min" if each.name == "TER" else "max") for each in scores]
    return paired_bootstrap(metrics, one, other, len(targets), resamples, seed)


def one_each(sentences):
    return [[sentence] for sentence in sentences]


def test_what_has_no_difference_in_its_interval_cannot_be_told_apart():
    facts = {"first": 1.0, "first_interval": (0, 2), "second": 3.0, "second_interval": (2, 4), "p": 0.02}
    assert Difference(ComparedMetric("f1", "F1"), **facts, interval=(-3.0, -1.0)).is_significant
    assert not Difference(ComparedMetric("f1", "F1"), **facts, interval=(-3.0, 0.5)).is_significant


def test_the_scores_are_those_of_the_corpus(meant):
    first, second = corrupted(meant, 0.1, 1), corrupted(meant, 0.3, 2)
    found = paired_tests(first, second, meant, resamples=50)
    for hypotheses, side in ((first, "first"), (second, "second")):
        for difference, score in zip(found, translation_scores(hypotheses, one_each(meant)), strict=True):
            assert getattr(difference, side) == pytest.approx(score.value, abs=1e-9)
            assert difference.metric.label == score.name


def test_a_better_system_is_told_from_a_worse_one_in_every_metric(meant):
    for found in paired_tests(corrupted(meant, 0.1, 1), corrupted(meant, 0.3, 2), meant):
        assert found.is_significant and found.first_is_better and found.p == pytest.approx(1 / 1001)
        assert found.interval.low < found.value < found.interval.high
        assert found.first_interval.low < found.first < found.first_interval.high
        assert not found.interval.low < 0 < found.interval.high
        assert (found.value < 0) == (found.metric.label == "TER")


def test_systems_that_say_the_same_do_not_differ(meant):
    said = corrupted(meant, 0.2, 1)
    for found in paired_tests(said, said, meant, resamples=100):
        assert found.p == 1 and found.value == 0 and found.interval == (0, 0) and not found.first_is_better


def test_chance_is_called_a_difference_about_as_often_as_it_says(meant):
    """Of pairs of equally good systems, one in twenty should fall under p = 0.05."""
    alarms = [
        paired_tests(
            corrupted(meant[:40], 0.3, 2 * trial), corrupted(meant[:40], 0.3, 2 * trial + 1), meant[:40], ["TER"], 100
        )[0].is_significant
        for trial in range(120)
    ]
    assert 1 <= sum(alarms) <= 15


def test_the_resampled_scores_are_sacrebleu_s(meant):
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    first, second = corrupted(meant, 0.2, 1), corrupted(meant, 0.22, 2)
    (ours,) = paired_tests(first, second, meant, ["BLEU"])
    _, theirs = PairedTest([("b", second), ("a", first)], {"BLEU": BLEU()}, [meant], "bs", 1000)()
    baseline, system = theirs["BLEU"]
    assert ours.first == pytest.approx(system.score, abs=1e-4)
    low, high = ours.first_interval
    assert (high - low) / 2 == pytest.approx(system.ci, rel=0.1)
    assert np.mean(ours.second_interval) == pytest.approx(baseline.mean, abs=1.0)


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(meant):
    first, second = corrupted(meant, 0.2, 1), corrupted(meant, 0.22, 2)
    one, again, other = (paired_tests(first, second, meant, ["BLEU"], 200, seed)[0] for seed in (1, 1, 2))
    assert one == again and one.interval != other.interval


def test_a_metric_that_is_undefined_is_left_out():
    nowhere = {"f1": lambda counts: float("nan")}
    assert paired_bootstrap([ComparedMetric("f1", "F1")], nowhere, nowhere, 5, 10) == ()


def test_paper_figures_say_how_they_were_made():
    hypotheses, references = (
        ["The well-known dog sleeps, at last, today."],
        [["the well-known Dog slept, at last, today."]],
    )
    lowercased, finely = paper_scores(hypotheses, references)
    assert lowercased.name == "BLEU lowercased, tokenized"
    assert lowercased.signature.startswith("nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version:")
    assert lowercased.signature.endswith(" on 13a-tokenized lowercased text")
    (same,) = translation_scores(hypotheses, references, ["BLEU"], lowercase=True)
    (cased,) = translation_scores(hypotheses, references, ["BLEU"])
    assert lowercased.value == pytest.approx(same.value) and cased.value < same.value
    assert "case:lc" in finely.signature and "tok:intl" in finely.signature
    assert finely.value > lowercased.value  # the hyphen is a token of its own


def test_a_second_reference_counts_in_paper_figures():
    hypotheses = ["a small dog sleeps in the garden"]
    one = paper_scores(hypotheses, [["one small dog slept in a garden"]])[0].value
    two = paper_scores(hypotheses, [["one small dog slept in a garden", "A small dog sleeps in the garden"]])[0]
    assert one < 100 and two.value == pytest.approx(100) and two.signature.startswith("nrefs:2")

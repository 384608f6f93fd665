import pytest

from regard.metrics import label_scores


def test_scores_of_labels_by_hand():
    found = label_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], ["a", "b", "c"])
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.confusion == ((2, 1, 0), (0, 1, 1), (0, 0, 1))
    a, b, c = found.classes
    assert (a.precision, a.recall, a.f1, a.count) == pytest.approx((1.0, 2 / 3, 0.8, 3))
    assert (b.precision, b.recall, b.f1, b.count) == pytest.approx((0.5, 0.5, 0.5, 2))
    assert (c.precision, c.recall, c.f1, c.count) == pytest.approx((0.5, 1.0, 2 / 3, 1))
    assert found.macro_f1 == pytest.approx((0.8 + 0.5 + 2 / 3) / 3) and c.label == "c"


def test_a_label_that_occurs_nowhere_does_not_count_against_the_mean():
    found = label_scores([0, 1], [0, 1], ["a", "b", "c"])
    assert found.macro_f1 == found.accuracy == 1.0 and found.classes[2].f1 == 0.0

"""The regression pipeline."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.errors import DataError
from regard.tasks.regress.pipeline import Regressor


def test_a_batch_is_predicted_as_each_text_alone_in_order():
    regressor = Regressor(head_bundle("regress"))
    results = regressor(TEXTS)
    assert [each.row.texts for each in results] == [(text,) for text in TEXTS] and regressor([]) == []
    for text, together in zip(TEXTS, results, strict=True):
        assert regressor(text).number == pytest.approx(together.number, abs=1e-4)
    assert len({round(each.number, 3) for each in results}) > 1


def test_the_output_of_the_head_has_the_units_of_the_training_set():
    plain, scaled = (
        Regressor(head_bundle("regress", center=center, spread=spread))(TEXTS[0]).number
        for center, spread in ((0.0, 1.0), (100.0, 20.0))
    )
    assert scaled == pytest.approx(100 + 20 * plain, abs=1e-4)


def test_a_bi_encoder_predicts_the_maximum_for_equal_texts_and_ignores_the_order():
    regressor = Regressor(head_bundle("regress", texts=2, pair_encoding="bi-encoder", center=1.0, spread=4.0))
    assert regressor((TEXTS[0], TEXTS[0])).number == pytest.approx(5.0, abs=1e-4)
    one, other = regressor([(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0])])
    assert one.number == pytest.approx(other.number, abs=1e-4) and one.number < 5.0


def test_long_texts_are_truncated():
    long, short = Regressor(head_bundle("regress"))(["film " * 60, "film"])
    assert long.is_truncated and not short.is_truncated


def test_texts_that_do_not_fit_are_refused_by_their_line():
    regressor = Regressor(head_bundle("regress"))
    with pytest.raises(DataError, match="line 2: this model takes one text, but 2 were given."):
        regressor(["a", ("b", "c")])
    with pytest.raises(DataError, match="line 8 is empty; give some text."):
        regressor(["a", " "], where=["line 5", "line 8"])

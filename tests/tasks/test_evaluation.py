"""An evaluation: metrics by key, plain values, and the table of several sets."""

import math

import pytest

from regard.metrics.comparison import Interval, Score
from regard.tasks.declarations import Metric
from regard.tasks.evaluation import Evaluation, decoding_words, finite, score_table

METRICS = (Metric("bleu", "BLEU", ".2f"), Metric("ter", "TER", ".2f", "min"))


def test_an_evaluation_is_looked_up_by_key_and_written_without_its_outputs():
    score = Score("BLEU", 31.4, "s", "bleu")
    evaluation = Evaluation("test", {"bleu": 31.4, "loss": math.nan}, (score,), ("a", "b"), decode={"beam_size": 5})
    assert evaluation["bleu"] == 31.4 and evaluation.count == 2 and "'a'" not in repr(evaluation)
    assert evaluation.to_dict() == {
        "name": "test",
        "bleu": 31.4,
        "loss": None,
        "scores": [{"name": "BLEU", "value": 31.4, "signature": "s", "key": "bleu"}],
        "intervals": {},
        "decode": {"beam_size": 5},
        "test_set": {},
    }
    with pytest.raises(KeyError):
        evaluation["ter"]


def test_a_table_has_a_column_for_each_metric_that_any_set_has():
    one = Evaluation("a", {"n": 1200, "bleu": 31.4}, intervals={"bleu": Interval(30.0, 32.0)}).to_dict()
    table = score_table(("n", "sentences"), METRICS, {"a": one, "b": {"n": 3, "bleu": math.nan, "loss": 2.0}})
    assert table.header == ("set", "sentences", "loss", "BLEU")
    assert list(table.rows) == [("a", "1,200", "-", "31.40 [30.00, 32.00]"), ("b", "3", "2.0000", "-")]


def test_json_has_no_nan_and_no_infinity():
    assert finite(math.nan) is None and finite(-math.inf) is None
    assert finite(0.0) == 0.0 and finite(7) == 7 and finite("nan") == "nan"


def test_decoding_is_described_by_the_settings_that_matter():
    assert decoding_words({"seed": 1, "length_penalty": "average", "beam_size": 5}) == (
        "beam size 5, length penalty average"
    )
    assert decoding_words({"iterations": 4, "length_candidates": 3}) == "iterations 4, length candidates 3"
    assert decoding_words({}) == ""

"""An evaluation: metrics by key or by the name of a score."""

import math

from regard.tasks.evaluation import Evaluation, decoding_words, finite, metric_value

SCORES = {"loss": 2.5, "scores": [{"name": "BLEU", "value": 31.4}, {"name": "chrF", "value": 50.0}]}


def test_a_metric_is_found_by_its_key_or_by_the_lower_case_name_of_a_score():
    assert metric_value(SCORES, "loss") == 2.5 and metric_value(SCORES, "bleu") == 31.4
    assert metric_value(SCORES, "chrf") == 50.0 and metric_value(SCORES, "BLEU") is None
    assert metric_value({}, "loss") is None
    assert metric_value({"bleu": 1.0} | SCORES, "bleu") == 1.0  # a key comes before a score


def test_an_evaluation_is_looked_up_and_written_without_its_outputs():
    evaluation = Evaluation("test", SCORES, ("a", "b"), {"beam_size": 5})
    assert evaluation["bleu"] == 31.4 and evaluation["ter"] is None
    assert evaluation.to_dict() == {"name": "test"} | SCORES
    assert "'a'" not in repr(evaluation)


def test_json_has_no_nan_and_no_infinity():
    assert finite(math.nan) is None and finite(-math.inf) is None
    assert finite(0.0) == 0.0 and finite(7) == 7 and finite("nan") == "nan"


def test_decoding_is_described_by_the_settings_that_matter():
    assert decoding_words({"seed": 1, "length_penalty": "average", "beam_size": 5}) == (
        "beam size 5, length penalty average"
    )
    assert decoding_words({"iterations": 4, "length_candidates": 3}) == "iterations 4, length candidates 3"
    assert decoding_words({}) == ""

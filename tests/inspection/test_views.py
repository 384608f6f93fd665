"""Views of a trace as tables and plain values."""

import numpy as np
import pytest

from regard.inspection.settings import InspectOptions
from regard.inspection.views import IterationsView, LensView, WeightsView
from regard.nn.probes.trace import Trace


def test_the_strongest_keys_are_listed_for_each_query():
    weights = np.array([[[0.75, 0.25], [0.0, 1.0]]], np.float32)
    trace = Trace({"text": ["a", "b"]}, {"blocks.0.attention.weights": weights})
    view = WeightsView(trace.layer("self"), None, 2)
    header, rows = view.table()
    assert header == ("token", "attends to", "") and rows[0] == ("a", "a 0.75", "b 0.25")
    assert WeightsView(trace.layer("self"), 0).to_dict()["weights"] == weights.tolist()


def test_iterations_show_kept_tokens_in_brackets():
    tokens = {"source": ["x"], "passes.0": ["a", "b"], "passes.1": ["a", "c"]}
    arrays = {
        "passes.0.probabilities": np.array([0.9, 0.4]),
        "passes.0.masked": np.array([1.0, 1.0]),
        "passes.1.probabilities": np.array([0.9, 0.6]),
        "passes.1.masked": np.array([0.0, 1.0]),
        "lengths": np.array([2.0, 3.0]),
        "lengths.probabilities": np.array([0.75, 0.25]),
    }
    view = IterationsView(Trace(tokens, arrays))
    assert view.table()[1] == [("1", "a 0.90", "b 0.40"), ("2", "(a 0.90)", "c 0.60")]
    values = view.to_dict()
    assert values["iterations"][1]["is_filled_in"] == [False, True] and values["length_probabilities"] == [0.75, 0.25]


def test_the_logit_lens_has_a_column_per_block():
    tokens = {"text": ["t0", "t1"], "blocks.0": ["a", "b"], "blocks.1": ["c", "d"]}
    arrays = {}
    for block in (0, 1):
        arrays[f"blocks.{block}.ids"] = np.array([[2 * block, 9], [2 * block + 1, 9]])
        arrays[f"blocks.{block}.probabilities"] = np.array([[0.5, 0.1], [0.25, 0.1]])
    view = LensView(Trace(tokens, arrays), lambda ids: [str(each) for each in ids])
    assert view.table() == (("token", "block 0", "block 1"), [("t0", "a 0.50", "c 0.50"), ("t1", "b 0.25", "d 0.25")])
    assert view.to_dict()["blocks"][1][0] == [{"token": "2", "probability": 0.5}, {"token": "9", "probability": 0.1}]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"logit_lens": True, "head": 0}, "--logit-lens shows tokens, not weights"),
        ({"iterations": 2, "attention": "cross"}, "--iterations shows tokens, not weights"),
        ({"iterations": 2, "top": 1}, "--iterations shows the decoding of a translation"),
        ({"top": 2, "out": "a.png"}, "--top is for lists, and --out plots all weights"),
    ],
)
def test_options_of_other_views_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        InspectOptions(**options)

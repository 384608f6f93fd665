"""One layer of attention weights: which is chosen, how its rows are labeled, and its plot."""

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.nn.probes.trace import Trace
from regard.runs.reports.attention import AttentionLayer, attention_layer, draw_attention

WEIGHTS = np.array([[[0.7, 0.3], [0.2, 0.8]], [[0.1, 0.9], [0.4, 0.6]]], np.float32)  # (heads, queries, keys)
SOURCE, TARGET = ["Der", "Hund"], ["<s>", "dog"]


@pytest.fixture
def trace() -> Trace:
    arrays = {
        "encoder.blocks.0.attention.weights": WEIGHTS,
        "encoder.blocks.1.attention.weights": WEIGHTS[::-1].copy(),
        "decoder.blocks.0.cross.weights": WEIGHTS,
    }
    return Trace({"source": SOURCE, "target": TARGET}, arrays)


def test_cross_attention_is_the_default_and_labeled_by_the_token_predicted(trace):
    layer = attention_layer(trace)
    assert (layer.kind, layer.layer, layer.layers) == ("cross", 0, 1)
    assert layer.keys == SOURCE and layer.queries == ["dog", "</s>"]
    assert attention_layer(trace, is_autoregressive=False).queries == TARGET


def test_a_layer_is_counted_from_the_end_too(trace):
    last = attention_layer(trace, "encoder")
    assert (last.layer, last.layers, last.queries) == (1, 2, SOURCE)
    assert np.array_equal(last.weights, attention_layer(trace, "encoder", 1).weights)
    assert not np.array_equal(last.weights, attention_layer(trace, "encoder", 0).weights)


def test_one_text_has_self_attention_alone():
    trace = Trace({"text": ["a", "b"]}, {"blocks.0.attention.weights": WEIGHTS})
    assert attention_layer(trace).kind == "self"
    with pytest.raises(ConfigError, match="attention: this model has no cross attention; it has self."):
        attention_layer(trace, "cross")


def test_the_strongest_keys_are_sorted_and_the_mean_is_over_heads(trace):
    layer = attention_layer(trace)
    assert layer.strongest(0, 1) == [[("Der", pytest.approx(0.7))], [("Hund", pytest.approx(0.8))]]
    assert np.allclose(layer.head_weights(None), WEIGHTS.mean(0)) and np.array_equal(
        layer.head_weights(-1), WEIGHTS[1]
    )
    (first, second), _ = layer.strongest(None, 2)
    assert first == ("Hund", pytest.approx(0.6)) and second == ("Der", pytest.approx(0.4))
    with pytest.raises(ConfigError, match="head: 2 is out of range, this layer has 2 heads, from 0 to 1."):
        layer.head_weights(2)


def test_a_plot_is_written_in_a_known_format_alone(tmp_path):
    layer = AttentionLayer("self", 0, 1, ["$a_b$", "b"], ["a", "b"], WEIGHTS)
    draw_attention(layer, [None, 0, 1], tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    with pytest.raises(ConfigError, match="a.gif: a picture ends in .png, .svg, .pdf; choose one of them."):
        draw_attention(layer, [None], tmp_path / "a.gif")
    with pytest.raises(DataError, match="cannot be written .*; choose another path."):
        draw_attention(layer, [None], tmp_path / "missing" / "a.png")

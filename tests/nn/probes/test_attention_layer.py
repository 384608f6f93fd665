"""One layer of attention weights: which is chosen, how its rows are labeled, and its plot."""

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.nn.probes.attention_layer import LABELED, AttentionLayer

WEIGHTS = np.array([[[0.7, 0.3], [0.2, 0.8]], [[0.1, 0.9], [0.4, 0.6]]], np.float32)  # (heads, queries, keys)
LAYER = AttentionLayer("self", 0, 1, ["Der", "Hund"], ["Der", "Hund"], WEIGHTS)


def test_the_strongest_keys_are_sorted_and_the_mean_is_over_heads():
    layer = LAYER
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
    layer.plot([None, 0, 1], tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    with pytest.raises(ConfigError, match="a.gif: a picture ends in .png, .svg, .pdf; choose one of them."):
        layer.plot([None], tmp_path / "a.gif")
    with pytest.raises(DataError, match="cannot be written .*; choose another path."):
        layer.plot([None], tmp_path / "missing" / "a.png")


def test_axes_of_many_tokens_have_whole_numbers():
    count = LABELED + 1
    layer = AttentionLayer("self", 0, 1, ["a"] * count, ["a"] * count, np.zeros((1, count, count), np.float32))
    panel = layer.plot().axes[0]
    assert all(float(value).is_integer() for value in (*panel.get_xticks(), *panel.get_yticks()))

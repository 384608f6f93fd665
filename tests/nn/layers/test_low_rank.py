"""The low-rank update of a weight."""

import torch

from regard.nn.layers.low_rank import LowRankUpdate, add_update, is_adapted, merged


def test_an_update_is_a_scaled_product_of_narrow_matrices():
    layer = torch.nn.Linear(6, 4)
    weight = layer.weight.detach().clone()
    add_update(layer, rank=2, alpha=6.0)
    update = layer.parametrizations.weight[0]
    assert isinstance(update, LowRankUpdate) and update.down.shape == (2, 6) and update.up.shape == (4, 2)
    with torch.no_grad():
        update.up.normal_()
    name, value = merged(torch.nn.ModuleDict({"one": layer}), "one.parametrizations.weight.original")
    assert name == "one.weight" and torch.allclose(value, weight + 3.0 * update.up @ update.down)
    assert merged(layer, "bias") is None


def test_a_layer_with_an_update_is_known():
    layer = torch.nn.Linear(6, 4)
    assert not is_adapted(layer)
    add_update(layer, rank=20, alpha=4.0)
    assert is_adapted(layer) and layer.parametrizations.weight[0].down.shape == (4, 6)  # no wider than the weight

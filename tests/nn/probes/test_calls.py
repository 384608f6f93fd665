import pytest
import torch
from torch import nn

from regard.nn.probes.calls import recording_calls


def test_calls_are_recorded_with_arguments_and_results_and_the_module_is_as_before():
    layer = nn.Linear(2, 3)
    with recording_calls({"product": (layer, "forward")}) as calls:
        x = torch.ones(1, 2)
        y = layer(x)
    (call,) = calls["product"]
    assert call.tensor(0) is x and call.tensor() is y
    assert "forward" not in vars(layer)
    layer(x)
    assert len(calls["product"]) == 1


def test_an_error_within_leaves_the_module_as_before():
    layer = nn.Linear(2, 3)
    with pytest.raises(RuntimeError), recording_calls({"product": (layer, "forward")}):
        layer(torch.ones(1, 5))
    assert "forward" not in vars(layer)

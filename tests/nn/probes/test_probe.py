import pytest
import torch
from torch import nn

from regard.nn.probes.probe import Probe, listening, probes


def model():
    return nn.Sequential(nn.Linear(2, 2), Probe(), nn.Sequential(Probe()))


def test_probes_are_named_by_their_paths():
    whole = model()
    assert probes(whole) == {"1": whole[1], "2.0": whole[2][0]}
    assert not list(whole[1].parameters()) and not whole[1].state_dict()


def test_a_probe_without_a_listener_returns_the_value_itself():
    probe, x = Probe(), torch.randn(2)
    assert not probe.has_listener and probe(x) is x


def test_a_listener_receives_the_value_and_may_replace_it():
    probe, x, received = Probe(), torch.randn(2), []
    with listening({probe: received.append}):
        assert probe.has_listener and probe(x) is x
    with listening({probe: lambda value: value * 2}):
        assert torch.equal(probe(x), 2 * x)
    assert received == [x] and not probe.has_listener


def test_a_probe_takes_one_listener_which_leaves_after_an_error():
    probe, other = Probe(), Probe()
    with listening({probe: lambda value: None}):
        refused = pytest.raises(RuntimeError, match=r"^A probe takes one listener at a time.$")
        with refused, listening({other: lambda value: None, probe: lambda value: None}):
            pass
        assert probe.has_listener and not other.has_listener  # nothing was attached
    with pytest.raises(KeyError), listening({probe: lambda value: None}):
        raise KeyError
    assert not probe.has_listener

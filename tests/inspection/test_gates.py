"""Gates over time are those of the fused pass, step by step."""

import pytest
import torch
from torch.testing import assert_close

from generators import small_model
from regard.inspection.gates import recording_gates, recurrent_layers
from regard.nn.layers.recurrent import BidirectionalLayer
from small import random_tokens


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
def test_gates_give_the_states_of_the_fused_pass(name):
    model, tokens = small_model(name).eval(), random_tokens(1, 7)
    with torch.inference_mode():
        before = model.hidden_states(tokens)
        with recording_gates(model) as traces:
            assert_close(model.hidden_states(tokens), before, atol=1e-9, rtol=0)
        assert_close(model.hidden_states(tokens), before)
    assert len(traces) == len(recurrent_layers(model))
    for trace in traces.values():
        hidden = trace.rows("hidden").double()
        assert hidden.shape[0] == 7
        if name == "lstm":
            i, f, candidate, o = (trace.rows(gate) for gate in ("i", "f", "C~", "o"))
            cell = trace.rows("cell")
            assert_close(f[1:] * cell[:-1] + i[1:] * candidate[1:], cell[1:], atol=1e-6, rtol=0)
            assert_close((o * cell.tanh()).double(), hidden, atol=1e-6, rtol=0)
        if name == "gru":
            z, n = trace.rows("z"), trace.rows("n")
            expected = (1 - z[1:]) * n[1:] + z[1:] * trace.rows("hidden")[:-1]
            assert_close(expected, trace.rows("hidden")[1:], atol=1e-6, rtol=0)


def test_a_backward_layer_is_shown_in_the_order_of_the_tokens():
    torch.manual_seed(0)
    layer = BidirectionalLayer("gru", 4, 6, "concatenate").eval()
    x = torch.randn(1, 5, 4)
    with recording_gates(layer) as traces:
        states, _ = layer(x, torch.ones(1, 5, dtype=torch.bool))
    both = torch.cat((traces["ahead"].rows("hidden"), traces["back"].rows("hidden")), -1)
    assert not traces["ahead"].is_backward and traces["back"].is_backward
    assert_close(both, states[0].detach(), atol=1e-6, rtol=0)

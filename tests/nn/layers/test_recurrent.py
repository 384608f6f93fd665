import pytest
import torch
from torch import nn
from torch.testing import assert_close

from regard.nn.layers.loop_linear import LoopLinear
from regard.nn.layers.recurrent import (
    BidirectionalLayer,
    ForwardLayer,
    RecurrentLayer,
    last_real,
    reversed_positions,
    turned,
)

KINDS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def real_of(lengths, length):
    return torch.arange(length) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["forward", "steps"])
def test_layers_compute_what_torch_does_with_the_same_gradients(kind, way):
    torch.manual_seed(0)
    layer, peer = RecurrentLayer(kind, 5, 6).double(), KINDS[kind](5, 6, batch_first=True).double()
    peer.load_state_dict(layer.fused.state_dict())
    x = torch.randn(3, 7, 5, dtype=torch.double, requires_grad=True)
    state = [torch.randn(3, 6, dtype=torch.double, requires_grad=True) for _ in range(layer.cell.states)]
    begin = [each[None].detach().requires_grad_() for each in state]
    found, last = getattr(layer, way)(x, tuple(state))
    y = x.detach().requires_grad_()
    expected, final = peer(y, tuple(begin) if kind == "lstm" else begin[0])
    assert_close(found, expected)
    for one, other in zip(last, final if kind == "lstm" else (final,), strict=True):
        assert_close(one, other[0])
    weights = torch.randn_like(found)
    ((found * weights).sum() + sum(each.sum() for each in last)).backward()
    ((expected * weights).sum() + (sum(each.sum() for each in final) if kind == "lstm" else final.sum())).backward()
    assert_close(x.grad, y.grad)
    for one, other in zip(state, begin, strict=True):
        assert_close(one.grad, other.grad[0])
    for one, other in zip(layer.fused.parameters(), peer.parameters(), strict=True):
        assert_close(one.grad, other.grad)


def test_the_equations_of_the_lecture():
    """One number wide, by hand."""
    sigmoid, tanh = torch.sigmoid, torch.tanh
    x, h, cell = (torch.tensor([[value]]) for value in (0.7, -0.4, 0.9))
    gates, hidden = torch.tensor([[0.1, 0.2, 0.3, 0.4]]), torch.tensor([[0.5, -0.6, 0.7, -0.8]])
    from regard.nn.layers.recurrent import gru_step, lstm_step, rnn_step

    assert_close(rnn_step(x, h, (h,))[0], tanh(x + h))
    i, f, candidate, o = (gates + hidden)[0]
    new_cell = sigmoid(f) * cell[0] + sigmoid(i) * tanh(candidate)
    found, found_cell = lstm_step(gates, hidden, (h, cell))
    assert_close(found_cell[0], new_cell)
    assert_close(found[0], sigmoid(o) * tanh(new_cell))
    r, z = sigmoid(gates[0, :2] + hidden[0, :2])
    n = tanh(gates[0, 2] + r * hidden[0, 2])
    assert_close(gru_step(gates[:, :3], hidden[:, :3], (h,))[0][0, 0], (1 - z) * n + z * h[0, 0])


@pytest.mark.parametrize("join", ["no", "concatenate", "sum", "layer"])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_has_no_part_in_either_direction(kind, join):
    torch.manual_seed(0)
    layer = ForwardLayer(kind, 5, 6) if join == "no" else BidirectionalLayer(kind, 5, 6, join)
    x, lengths = torch.randn(3, 8, 5), [8, 3, 1]
    with torch.no_grad():
        states, last = layer(x, real_of(lengths, 8))
        other, other_last = layer(x * real_of(lengths, 8)[..., None], real_of(lengths, 8))
        for row, length in enumerate(lengths):
            alone, alone_last = layer(x[row : row + 1, :length], real_of([length], length))
            assert_close(states[row : row + 1, :length], alone)
            assert_close(last[row : row + 1], alone_last)
            assert_close(other[row, :length], states[row, :length])
    assert_close(other_last, last)


def test_both_directions_are_what_torch_makes_of_packed_sentences():
    torch.manual_seed(0)
    layer = BidirectionalLayer("lstm", 5, 12, "concatenate")
    peer = nn.LSTM(5, 6, batch_first=True, bidirectional=True)
    for way, suffix in ((layer.ahead, ""), (layer.back, "_reverse")):
        for name, value in way.fused.named_parameters():
            getattr(peer, name + suffix).data.copy_(value)
    x, lengths = torch.randn(4, 6, 5), [6, 4, 4, 1]
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True)
    expected, (final, _) = peer(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    states, last = layer(x, real_of(lengths, 6))
    assert_close(states * real_of(lengths, 6)[..., None], expected)
    assert_close(last, torch.cat((final[0], final[1]), -1))


def test_the_three_ways_to_join_two_directions():
    torch.manual_seed(0)
    ahead, back = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    concatenated, summed, layered = (BidirectionalLayer("gru", 5, 8, way) for way in ("concatenate", "sum", "layer"))
    assert_close(concatenated.join(ahead, back), torch.cat((ahead, back), -1))
    assert_close(summed.join(ahead, back), ahead + back)
    both = torch.cat((ahead, back), -1).repeat(1, 1, 2)
    weight, bias = layered.joint.weight, layered.joint.bias
    assert_close(layered.join(both[..., :8], both[..., 8:]), torch.tanh(both @ weight.T + bias))


def test_turning_a_sentence_twice_gives_it_back_and_so_does_its_gradient():
    x, token_mask = torch.randn(3, 5, 2, dtype=torch.double, requires_grad=True), real_of([5, 3, 1], 5)
    places = reversed_positions(token_mask)
    assert places.tolist() == [[4, 3, 2, 1, 0], [2, 1, 0, 3, 4], [0, 1, 2, 3, 4]]
    assert_close(turned(turned(x, places), places), x)
    assert torch.autograd.gradcheck(lambda each: turned(each, places), x)
    assert_close(last_real(x, token_mask), torch.stack((x[0, 4], x[1, 2], x[2, 0])))


def test_a_repeated_product_has_the_gradients_of_its_steps():
    torch.manual_seed(0)
    weight, bias = torch.randn(4, 6, requires_grad=True), torch.randn(6, requires_grad=True)
    each = torch.randn(3, 4, 6, requires_grad=True)
    start = torch.randn(3, 4, requires_grad=True)

    def through(product, look):
        x = start
        for _ in range(5):
            x = torch.tanh(product(x))[:, :4]
            x = x + look(x[:, None])[:, 0, :4]
        return x.square().sum()

    leaves = (weight, bias, each, start)
    fast = through(LoopLinear(weight, bias, 5, 3), LoopLinear(each, None, 5, 3))
    plain = through(lambda x: x @ weight + bias, lambda x: x @ each)
    assert_close(fast, plain)
    for one, other in zip(torch.autograd.grad(fast, leaves), torch.autograd.grad(plain, leaves), strict=True):
        assert_close(one, other)
    with torch.no_grad():
        assert_close(through(LoopLinear(weight, bias, 5, 3), LoopLinear(each, None, 5, 3)), plain)


def test_an_lstm_remembers_at_first_and_hands_on_lengths():
    layer = RecurrentLayer("lstm", 5, 6)
    assert (layer.input_bias[6:12] == 1).all() and not layer.input_bias[:6].any()
    for part in layer.hidden_weight.chunk(4):
        assert_close(part @ part.T, torch.eye(6), atol=1e-5, rtol=0)

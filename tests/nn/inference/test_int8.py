"""Products with int8 weights."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from generators import FAMILIES, settings_of
from language import small_language_model
from regard.errors import ConfigError
from regard.nn.inference.int8 import HALF, Int8Weight, can_multiply_int8, drop_int8, quantize_int8, without_int8
from regard.nn.inference.prepacked import packed
from small import random_tokens

pytestmark = pytest.mark.skipif(not can_multiply_int8(), reason="this build of torch does not multiply int8 weights")


def rounded(weight):
    """Return a weight as it is held, by the definition."""
    scale = weight.abs().amax(1, keepdim=True) / 127
    return (weight / scale).round() * scale


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 70), (300, 64)])
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_only_the_weight_is_rounded_coarsely(shape, rows):
    torch.manual_seed(0)
    weight, bias, x = torch.randn(shape), torch.randn(shape[0]), torch.randn(rows, shape[1])
    expected = x.double() @ rounded(weight.double()).T + bias
    # Each input is off by half a step of its row at most, and its largest value is HALF steps.
    bound = x.abs().amax(1, keepdim=True) / HALF / 2 * weight.abs().sum(1) * 1.02 + 1e-5
    assert ((Int8Weight(weight, bias)(x) - expected).abs() <= bound).all()
    assert_close(Int8Weight(weight)(x), Int8Weight(weight, bias)(x) - bias, atol=1e-5, rtol=1e-5)


def test_one_large_value_does_not_drown_the_others():
    torch.manual_seed(0)
    weight, x = torch.randn(64, 512), torch.randn(4, 512)
    x[:, 7] = 100
    weight[:, 7] = 0
    expected = x.double() @ rounded(weight.double()).T
    assert (Int8Weight(weight)(x) - expected).norm() / expected.norm() < 5e-3  # eight bits alone would be off by 0.2


def test_rows_do_not_depend_on_their_neighbours():
    torch.manual_seed(0)
    held, x = Int8Weight(torch.randn(50, 40), torch.randn(50)), torch.randn(3, 4, 40)
    x[1] *= 1e3
    together = held(x)
    assert together.shape == (3, 4, 50)
    for row in range(3):
        for step in range(4):
            assert torch.equal(held(x[row, step]), together[row, step])


def test_extreme_values_overflow_nothing():
    weight = torch.tensor([1.0, -1.0]).repeat(2048)[None] * torch.tensor([[1.0], [-1.0]])
    for x in (weight[:1], -weight[:1], torch.ones(1, 4096), -torch.ones(1, 4096)):
        assert_close(Int8Weight(weight)(x), x @ weight.T, atol=0.3, rtol=1e-4)
    assert torch.equal(Int8Weight(weight)(torch.zeros(2, 4096)), torch.zeros(2, 2))
    assert torch.equal(Int8Weight(torch.zeros(3, 8))(torch.randn(2, 8)), torch.zeros(2, 3))
    assert Int8Weight(weight)(torch.full((1, 4096), torch.nan)).isnan().all()
    assert Int8Weight(weight)(torch.zeros(0, 4096)).shape == (0, 2)


def test_a_loss_is_refused():
    held = Int8Weight(torch.randn(3, 4))
    with pytest.raises(
        ConfigError, match=r"^quantize: int8 weights cannot be trained; use them under torch.inference_mode"
    ):
        held(torch.randn(2, 4, requires_grad=True))


def by_definition(model, tokens):
    """Return the logits with rounded weights, all else in fp32."""
    layers = [layer for layer in model.modules() if getattr(layer, "int8", None) is not None]
    held = [layer.int8 for layer in layers]
    for layer in layers:
        layer.int8 = partial(F.linear, weight=rounded(layer.weight), bias=layer.bias)
    found = model(tokens)
    for layer, weight in zip(layers, held, strict=True):
        layer.int8 = weight
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_holds_them_and_lets_go(family):
    model = small_language_model(settings_of(family), seed=3).float()
    tokens = random_tokens(3, 12)
    names = list(model.state_dict())
    with torch.inference_mode():
        plain = model(tokens)
        quantize_int8(model)
        held = model(tokens)
        assert 0 < (held - plain).norm() < 0.03 * plain.norm()  # the rounding of weights, and ...
        assert (held - by_definition(model, tokens)).norm() < 1e-3 * plain.norm()  # ... hardly anything else
        with packed(model):  # nothing is lent in place of what is held
            assert model.head.packed is None and torch.equal(model(tokens), held)
        with without_int8(model):
            assert model.head.int8 is None and torch.equal(model(tokens), plain)
        assert torch.equal(model(tokens), held) and list(model.state_dict()) == names
        drop_int8(model)
        assert torch.equal(model(tokens), plain)

import math

import pytest
import torch
from torch.testing import assert_close

from regard.nn.inference.prepacked import can_pack, packed
from regard.nn.layers.linear import Linear, as_product, build_linear, padded_rows, product


@pytest.mark.parametrize("parts", [3, (4, 4, 8)])
def test_each_part_has_the_bound_of_a_layer_of_its_own(parts):
    torch.manual_seed(0)
    scale = 64
    sizes = [scale * 4] * 3 if parts == 3 else [scale * size for size in parts]
    layer = build_linear(128, sum(sizes), parts=3 if parts == 3 else sizes)
    for size, part in zip(sizes, layer.weight.split(sizes), strict=True):
        bound = math.sqrt(6 / (128 + size))
        assert 0.98 * bound < part.abs().max().item() <= bound
    assert (layer.bias == 0).all() and build_linear(2, 3, has_bias=False).bias is None


def test_a_weight_for_single_rows_is_used_for_them_alone():
    x, weight, bias = torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)
    assert_close(product(x, weight, bias, None), x @ weight.T + bias)
    other = torch.randn(4, 3)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight)
    assert_close(product(x[:1], weight, bias, packed, other), x[:1] @ other.T + bias)
    assert_close(product(x, weight, bias, packed, other), x @ weight.T + bias)


def test_an_int8_product_replaces_that_of_the_weight():
    layer = Linear(3, 2)
    layer.int8 = lambda x: x.sum(-1, keepdim=True)
    assert_close(layer(torch.ones(2, 3)), torch.full((2, 1), 3.0))


def test_autocast_decides_the_precision_of_what_is_multiplied():
    x = torch.randn(3)
    assert as_product(x) is x
    with torch.autocast("cpu", torch.bfloat16):
        assert as_product(x).dtype == torch.bfloat16


def test_packed_products_have_few_numbers_of_rows_and_the_same_values():
    numbers = {padded_rows(rows) for rows in range(1, 4097)}
    assert len(numbers) <= 16 + 8 * 8 + 1
    assert all(rows <= padded_rows(rows) <= 1.125 * rows for rows in range(1, 4097))
    layer = build_linear(12, 7)
    for rows in (1, 15, 17, 33, 130):
        x = torch.randn(rows, 1, 12)
        with torch.inference_mode(), packed(layer):
            assert layer.packed is not None or not can_pack()
            outputs = layer(x)
        assert outputs.shape == (rows, 1, 7)
        assert_close(outputs, layer(x).detach(), atol=1e-5, rtol=0)

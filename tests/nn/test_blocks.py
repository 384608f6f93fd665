import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from regard.nn.attention.attention import View
from regard.nn.blocks import BlockSettings, EncoderBlock, FeedForward, Residual, build_norm, shrink_branches
from small import small_settings


def test_golden_layer_norm_over_the_features_of_one_position():
    norm = build_norm(small_settings(width=3, heads=3, positions="none"))
    rows = torch.arange(1.0, 10.0).view(3, 3)
    for row in norm(rows):
        assert_close(row, torch.tensor([-1.2247, 0.0, 1.2247]), atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    "order, expected",
    [
        ("post", lambda x, f, norm: norm(x + f(x))),
        ("pre", lambda x, f, norm: x + f(norm(x))),
        ("res-post", lambda x, f, norm: x + norm(f(x))),
    ],
)
def test_the_three_orders_of_norm_and_sum(order, expected):
    residual = Residual(small_settings(norm_order=order)).eval()
    x = torch.randn(2, 3, 16)
    sublayer = nn.Linear(16, 16)
    assert_close(residual(x, sublayer), expected(x, sublayer, residual.norm))


def test_feed_forward_activations():
    x = torch.randn(2, 3, 16)
    for activation in ("relu", "gelu", "gelu-tanh", "silu", "swiglu"):
        layer = FeedForward(small_settings(activation=activation)).eval()
        inner = layer.inner(x)
        if activation == "swiglu":
            gate, value = inner.chunk(2, -1)
            expected = layer.outer(nn.functional.silu(gate) * value)
        elif activation == "gelu-tanh":
            cubic = inner + 0.044715 * inner**3
            expected = layer.outer(0.5 * inner * (1 + torch.tanh(math.sqrt(2 / math.pi) * cubic)))
        else:
            expected = layer.outer(getattr(nn.functional, activation)(inner))
        assert_close(layer(x), expected)
    notes = FeedForward(small_settings(width=512, heads=3, head_width=512, feed_forward_width=2360))
    assert notes.inner.weight.shape == (2360, 512) and notes.outer.weight.shape == (512, 2360)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_an_encoder_block_equals_torch_s_own(order):
    torch.manual_seed(0)
    ours = EncoderBlock(small_settings(norm_order=order, dropout=0.0)).eval()
    theirs = nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True, norm_first=order == "pre")
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(ours.attention.query_key_value.weight)
        theirs.self_attn.in_proj_bias.copy_(ours.attention.query_key_value.bias)
        theirs.self_attn.out_proj.weight.copy_(ours.attention.output.weight)
        theirs.self_attn.out_proj.bias.copy_(ours.attention.output.bias)
        theirs.linear1.weight.copy_(ours.feed_forward.inner.weight)
        theirs.linear1.bias.copy_(ours.feed_forward.inner.bias)
        theirs.linear2.weight.copy_(ours.feed_forward.outer.weight)
        theirs.linear2.bias.copy_(ours.feed_forward.outer.bias)
    x = torch.randn(3, 5, 16, requires_grad=True)
    assert_close(ours(x, View()), theirs.train()(x), atol=1e-5, rtol=0)


def test_positions_stay_apart_in_a_deep_post_norm_stack():
    """Their mean cosine grows with every norm; near 1 there is nothing to attend to."""
    cosines = {}
    for is_shrunk in (False, True):
        torch.manual_seed(1)
        blocks = nn.ModuleList(
            EncoderBlock(BlockSettings(width=64, heads=4, feed_forward_width=256)) for _ in range(12)
        )
        before = [block.feed_forward.outer.weight.clone() for block in blocks]
        if is_shrunk:
            shrink_branches(blocks)
            assert torch.allclose(blocks[3].feed_forward.outer.weight, before[3] * 24**-0.5)
        x = torch.randn(8, 16, 64)
        for block in blocks.eval():
            x = block(x, View())
        unit = F.normalize(x, dim=-1)
        cosines[is_shrunk] = (unit @ unit.transpose(1, 2)).mean().item()
    assert cosines[True] < cosines[False] - 0.2

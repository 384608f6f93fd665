"""The kernels against the plain way: on a CUDA device, or interpreted where the compiler is installed without one."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels
from regard.nn.blocks import BlockSettings, FeedForward
from regard.nn.layers.bias_gelu import gelu_of_sum

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def both_ways(x, bias, upstream, ways):
    """Return values and gradients of each way to compute bias + GELU."""
    results = []
    for way in ways:
        leaves = [each.clone().requires_grad_() for each in (x, bias)]
        output = way(*leaves)
        output.backward(upstream)
        results.append([output, *(leaf.grad for leaf in leaves)])
    return results


def check():
    from regard.nn.kernels.gelu import backward, forward

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x, bias = (2 * torch.randn(*shape, device=device) for shape in ((3, 45, 700), (700,)))
    upstream = torch.randn_like(x)
    for is_tanh in (False, True):
        plain, fused = both_ways(
            x,
            bias,
            upstream,
            (
                lambda x, bias, way="tanh" if is_tanh else "none": F.gelu(x + bias, approximate=way),
                lambda x, bias, is_tanh=is_tanh: gelu_of_sum(x, bias, is_tanh),
            ),
        )
        kernels = [forward(x, bias, is_tanh), *backward(upstream, x, bias, is_tanh)]
        for expected, value, direct in zip(plain, fused, kernels, strict=True):
            assert_close(value, expected, atol=2e-5, rtol=1e-4)
            assert_close(direct, expected, atol=2e-5, rtol=1e-4)


@needs_kernels
def test_the_kernels_give_the_same_values_and_gradients():
    assert failure(check) == ""


@on_gpu
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("activation", ["gelu", "gelu-tanh"])
def test_a_feed_forward_layer_learns_the_same_on_a_gpu(activation, is_compiled):
    torch.manual_seed(0)
    layer = (
        FeedForward(BlockSettings(width=64, heads=2, feed_forward_width=192, activation=activation)).cuda().train()
    )
    x = torch.randn(4, 33, 64, device="cuda")
    found = []
    for is_half in (False, True):
        layer.zero_grad()
        call = torch.compile(layer) if is_compiled and is_half else layer
        with torch.autocast("cuda", torch.bfloat16, enabled=is_half):
            said = call(x)
        said.float().square().sum().backward()
        found.append([said.float(), *(each.grad.clone() for each in layer.parameters())])
    for plain, fused in zip(*found, strict=True):
        assert_close(fused, plain, atol=0.02 * plain.abs().max().item(), rtol=0.05)

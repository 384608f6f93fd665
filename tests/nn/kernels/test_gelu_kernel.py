"""The kernels against the plain way: on a CUDA device, or interpreted where the compiler is installed without one."""

import pytest
import torch
from torch.testing import assert_close

from own_kernels import complaint, needs_kernels
from regard.nn.blocks import BlockSettings, FeedForward

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

CODE = """
import torch
from torch.nn import functional as F
from regard.nn.layers.bias_gelu import gelu_of_sum

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, bias = (2 * torch.randn(*shape, device=device, dtype=torch.float32) for shape in ((3, 45, 700), (700,)))
upstream = torch.randn_like(x)
for is_tanh in (False, True):
    found = []
    for way in (
        lambda x, bias: F.gelu(x + bias, approximate="tanh" if is_tanh else "none"),
        lambda x, bias: gelu_of_sum(x, bias, is_tanh),
    ):
        leaves = [each.clone().requires_grad_() for each in (x, bias)]
        said = way(*leaves)
        said.backward(upstream)
        found.append([said, *(leaf.grad for leaf in leaves)])
    for plain, fused in zip(*found, strict=True):
        torch.testing.assert_close(fused, plain, atol=2e-5, rtol=1e-4)
"""


@needs_kernels
def test_the_kernels_give_the_same_values_and_gradients():
    assert complaint(CODE) == ""


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

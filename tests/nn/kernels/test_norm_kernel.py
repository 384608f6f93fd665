"""The gradient of a norm and of what goes past it, by a kernel: on a CUDA device, or interpreted."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels
from regard.nn.attention.attention import View
from regard.nn.blocks import BlockSettings, EncoderBlock

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def check():
    from regard.nn.kernels.norm import backward
    from regard.nn.layers.residual_norm import _Beside

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*size, device=device) for size in ((3, 45, 96), (96,), (96,)))
    upstream = [torch.randn_like(x) for _ in range(2)]

    def plainly(x, weight, bias):
        return x, F.layer_norm(x, (96,), weight, bias, 1e-5)

    def fused(x, weight, bias):
        return _Beside.apply(x, weight, bias, 1e-5)

    results = []
    for way in (plainly, fused, torch.compile(fused, fullgraph=True, backend="aot_eager")):
        leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
        beside, normed = way(*leaves)
        torch.autograd.backward([1 * beside, normed], upstream)
        results.append([normed, *(leaf.grad for leaf in leaves)])
    for other in results[1:]:
        for expected, value in zip(results[0], other, strict=True):
            assert_close(value, expected, atol=2e-5, rtol=1e-4)
    _, mean, scale = torch.native_layer_norm(x, (96,), weight, bias, 1e-5)
    of_x, (of_weight, of_bias) = backward(*upstream, x, mean, scale, weight)
    assert_close([of_x, of_weight, of_bias], results[0][1:], atol=2e-5, rtol=1e-4)


@needs_kernels
def test_the_kernel_gives_the_same_gradients_in_and_out_of_a_compiled_block():
    assert failure(check) == ""


@on_gpu
@pytest.mark.filterwarnings("ignore")  # what torch warns of while it compiles is its own affair
@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_block_learns_the_same_on_a_gpu(is_compiled):
    torch.manual_seed(0)
    sizes = {"width": 96, "heads": 2, "feed_forward_width": 192}
    block = EncoderBlock(BlockSettings(**sizes, norm_order="pre", activation="gelu-tanh", dropout=0)).cuda()
    x = torch.randn(4, 33, 96, device="cuda", requires_grad=True)
    found = []
    for is_half in (False, True):
        block.zero_grad()
        x.grad = None
        call = torch.compile(block) if is_compiled and is_half else block
        with torch.autocast("cuda", torch.bfloat16, enabled=is_half):
            said = call(x, View(is_causal=True))
        said.float().square().sum().backward()
        found.append([said.float(), x.grad.clone(), *(each.grad.clone() for each in block.parameters())])
    for plain, fused in zip(*found, strict=True):
        assert_close(fused, plain, atol=0.03 * plain.abs().max().item(), rtol=0.05)

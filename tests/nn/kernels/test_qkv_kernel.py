"""Gradients of heads brought together by a kernel: on a CUDA device, or interpreted where there is a compiler."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels
from regard.nn.attention.attention import SelfAttention, View

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def check():
    from regard.nn.attention.qkv import split_qkv
    from regard.nn.kernels.qkv import together

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    sizes = (3, 45, 24), (3 * 4 * 80, 24), (3 * 4 * 80,)
    x, weight, bias = (0.3 * torch.randn(*size, device=device) for size in sizes)

    def plainly(x, weight, bias):
        packed = F.linear(x, weight, bias)
        return [part.unflatten(-1, (4, 80)).transpose(1, 2) for part in packed.chunk(3, -1)]

    def fused(x, weight, bias):
        return split_qkv(F.linear(x, weight, bias.detach()), bias, 80)

    def attended(split):
        def attend(*leaves):
            query, key, value = split(*leaves)
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)

        return attend

    results = []
    compiled = torch.compile(attended(fused), fullgraph=True, backend="aot_eager")
    for way in (attended(plainly), attended(fused), compiled):
        leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
        output = way(*leaves)
        output.square().sum().backward()
        results.append([output, *(leaf.grad for leaf in leaves)])
    for other in results[1:]:
        for expected, value in zip(results[0], other, strict=True):
            assert_close(value, expected, atol=2e-4, rtol=1e-4)
    parts = torch.randn(3, 300, 40, device=device).unbind(0)
    packed, sums = together(*parts)
    assert torch.equal(packed, torch.cat(parts, 1))
    assert_close(sums, packed.sum(0), atol=1e-4, rtol=1e-4)


@needs_kernels
def test_the_kernel_gives_the_same_gradients_in_and_out_of_a_compiled_block():
    assert failure(check) == ""


@on_gpu
@pytest.mark.filterwarnings("ignore")  # what torch warns of while it compiles is its own affair
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("length", [33, 300])  # torch's own attention, and cuDNN's
def test_self_attention_learns_the_same_on_a_gpu(length, is_compiled):
    torch.manual_seed(0)
    layer = SelfAttention(128, 2, 64, 0.0, has_bias=True).cuda().train()
    torch.nn.init.normal_(layer.query_key_value.bias)
    x = torch.randn(4, length, 128, device="cuda")
    found = []
    for is_half in (False, True):
        layer.zero_grad()
        call = torch.compile(layer) if is_compiled and is_half else layer
        with torch.autocast("cuda", torch.bfloat16, enabled=is_half):
            said = call(x, View(is_causal=True))
        said.float().square().sum().backward()
        found.append([said.float(), *(each.grad.clone() for each in layer.parameters())])
    for plain, fused in zip(*found, strict=True):
        assert_close(fused, plain, atol=0.02 * plain.abs().max().item(), rtol=0.05)

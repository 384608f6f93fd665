import torch
from torch.nn import functional as F
from torch.testing import assert_close

from regard.nn.attention.qkv import heads_together, split_qkv


def test_queries_keys_and_values_are_thirds_of_the_projection_by_head():
    torch.manual_seed(0)
    x, weight, bias = torch.randn(2, 5, 7), torch.randn(3 * 4 * 6, 7), torch.randn(3 * 4 * 6, requires_grad=True)
    packed = F.linear(x, weight, bias.detach())
    for number, part in enumerate(split_qkv(packed, bias, 6)):
        assert part.shape == (2, 4, 5, 6) and part.requires_grad
        for head in range(4):
            begin = (number * 4 + head) * 6
            assert_close(part[:, head], packed[..., begin : begin + 6])


def test_a_compiler_is_given_the_shapes_of_the_gradients():
    parts = [torch.empty(2, 4, 5, 6, device="meta", dtype=torch.bfloat16) for _ in range(3)]
    packed, total = heads_together(*parts)
    assert packed.shape == (2, 5, 72) and packed.dtype == torch.bfloat16
    assert total.shape == (72,) and total.dtype == torch.float32

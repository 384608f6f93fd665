import pytest
import torch
from torch.testing import assert_close

from regard.nn.attention.attention import SelfAttention, View
from regard.nn.attention.masks import padding_mask
from regard.nn.attention.varlen import VarlenLayout

LENGTHS = [[3, 1, 4], [4, 4], [1], [0, 3, 0, 2, 0]]


def layout_of(lengths, bound=0):
    return VarlenLayout(torch.tensor([0, *lengths]).cumsum(0).int(), max(*lengths, bound))


@pytest.mark.parametrize("bound", [0, 6])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_padded_rows_hold_the_sequences_and_packing_restores_them(lengths, bound):
    layout, N = layout_of(lengths, bound), sum(lengths)
    x = torch.randn(1, 2, N, 5, requires_grad=True)
    padded = layout.padded(x)
    assert padded.shape == (len(lengths), 2, layout.max_seqlen, 5)
    for row, (begin, length) in enumerate(zip(layout.cu_seqlens.tolist(), lengths)):
        assert torch.equal(padded[row, :, :length], x[0, :, begin : begin + length])
    packed = layout.packed(padded, N)
    assert torch.equal(packed, x)
    (gradient,) = torch.autograd.grad(packed.sum(), x)
    assert torch.equal(gradient, torch.ones_like(x))


def test_the_mask_marks_tokens_and_one_position_of_an_empty_sequence():
    assert layout_of([3, 0, 1]).token_mask().tolist() == [[True] * 3, [True, False, False], [True, False, False]]


def test_only_sequences_that_fill_all_rows_are_full():
    assert layout_of([4, 4]).is_full(8) and not layout_of([4, 3]).is_full(7)
    assert not layout_of([4, 4], bound=5).is_full(8)


def test_the_kernel_is_for_half_precision_on_a_gpu():
    assert not layout_of([2]).has_kernel_for(torch.zeros(1, 2, 16), 8)
    assert not layout_of([2]).has_kernel_for(torch.zeros(1, 2, 16, dtype=torch.bfloat16), 8)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_attention_over_packed_sequences_equals_attention_over_each_alone(lengths):
    torch.manual_seed(0)
    layer, layout = SelfAttention(8, 2, 4, 0.0, has_bias=True).eval(), layout_of(lengths)
    x = torch.randn(1, sum(lengths), 8)
    mask = None if layout.is_full(x.size(1)) else padding_mask(layout.token_mask())
    packed = layer(x, View(mask, lay=layout))
    alone = [layer(part, View()) for part in x.split(lengths, 1) if part.size(1)]
    assert_close(packed, torch.cat(alone, 1), atol=1e-6, rtol=1e-5)

"""The attention of a decoding step by a kernel: on a CUDA device, or interpreted where Triton has none."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels


def check():
    from regard.nn.kernels.decode_attention import step_attention

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    B, H, Q, N, K = 2, 3, 4, 70, 8
    query, new_key, new_value = torch.randn(3, B, H, Q, K, device=device).unbind(0)
    keys, values = torch.randn(2, B, H, N, K, device=device).unbind(0)
    bias = torch.zeros(B, 1, Q, N, device=device).masked_fill_(
        torch.rand(B, 1, Q, N, device=device) < 0.3, -torch.inf
    )
    bias[..., 0] = 0.0
    rows = lambda outputs: outputs.transpose(1, 2).reshape(B * Q, H * K)
    expected = F.scaled_dot_product_attention(query, keys, values, bias)
    assert_close(step_attention(query, keys, values, bias), rows(expected), atol=1e-4, rtol=1e-4)
    slots, used = torch.arange(40, 40 + Q, device=device), torch.tensor(44, device=device)
    outputs = step_attention(query, keys, values, bias, (new_key, new_value), slots, used)
    assert torch.equal(keys[:, :, 40:44], new_key) and torch.equal(values[:, :, 40:44], new_value)
    expected = F.scaled_dot_product_attention(query, keys[:, :, :44], values[:, :, :44], bias[..., :44])
    assert_close(outputs, rows(expected), atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="^The last dimension must be dense.$"):
        step_attention(query.repeat_interleave(2, 3)[..., ::2], keys, values, bias)


@needs_kernels
def test_new_keys_are_written_and_only_used_slots_are_attended_to():
    assert failure(check) == ""

"""Fused passes of mask-predict against the blocks: on a CUDA device, interpreted, or with a plain linear layer."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from own_kernels import complaint, needs_kernels
from regard.models.transformer import fused_step, mask_predict, mask_predict_fused
from regard.models.transformer.mask_predict_fused import decode_masked_rows, encode_rows
from regard.nn.blocks import ACTIVATIONS
from small import small_mask_predict, sources

VARIANTS = [{}, {"positions": "learned", "has_bias": False}, {"activation": "gelu-tanh"}]


def compare():
    """Encode and decode with and without fused kernels."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for changes in VARIANTS:
        model = small_mask_predict(norm_order="pre", **changes).to(device).eval()
        source, token_mask = (each.to(device) for each in sources([9, 3, 7]))
        target, target_mask = (each.to(device) for each in sources([4, 11, 2]))
        outputs = []
        for is_fused in (False, True):
            mask_predict.can_fuse = lambda *_, is_fused=is_fused: is_fused
            with torch.inference_mode():
                memory = model.ready(model.encode(source, token_mask, is_alone=True))
                hidden = model.decode(target, memory, target_mask, is_alone=True)
            outputs.append([memory.states[token_mask], hidden[target_mask]])
        torch.testing.assert_close(outputs[1], outputs[0], atol=1e-4, rtol=1e-4)
        assert not torch.equal(outputs[1][1], outputs[0][1])  # another way indeed


@needs_kernels
def test_fused_passes_compute_what_the_blocks_compute():
    folder = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {folder!r}); import test_mask_predict_fused as t; t.compare()"
    assert complaint(code) == ""


def plain_linear(rows, layer, norm=None, activation=None, residual=None):
    """The kernel's definition in torch: norm, projection, activation, residual."""
    rows = torch.nn.functional.linear(rows if norm is None else norm(rows), layer.weight, layer.bias)
    rows = rows if activation is None else ACTIVATIONS[activation](rows)
    return rows if residual is None else rows + residual


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@torch.no_grad()
def test_the_order_of_fused_operations_is_that_of_the_blocks(changes, monkeypatch):
    for module in (fused_step, mask_predict_fused):
        monkeypatch.setattr(module, "linear", plain_linear)
    model = small_mask_predict(norm_order="pre", **changes)
    (source, token_mask), (target, target_mask) = sources([9, 3, 7]), sources([4, 11, 2])
    memory = model.ready(model.encode(source, token_mask))
    encoded = encode_rows(model.encoder, source, token_mask)
    assert_close(encoded[token_mask], memory.states[token_mask], atol=1e-5, rtol=1e-5)
    decoded = decode_masked_rows(model.decoder, target, memory, target_mask)
    expected = model.decode(target, memory, target_mask)
    assert_close(decoded[target_mask], expected[target_mask], atol=1e-5, rtol=1e-5)

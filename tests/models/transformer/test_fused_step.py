"""Fused decoding steps against the blocks: on a CUDA device, or interpreted where only the compiler is installed."""

from pathlib import Path

import pytest
import torch

from own_kernels import complaint, needs_kernels
from regard.models.transformer import static_cache
from regard.models.transformer.fused_step import can_fuse
from small import small_settings, small_transformer, sources


def compare():
    """Decode some steps with and without fused kernels."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for changes in ({}, {"positions": "rotary"}, {"has_bias": False, "positions": "alibi", "has_output_bias": True}):
        model = small_transformer(norm_order="pre", **changes).to(device)
        source, token_mask = (each.to(device) for each in sources([9, 3, 7]))
        for hypotheses, steps in ((2, 3), (5, 16)):  # few rows, and more; more slots than a block has
            outputs = []
            for is_fused in (False, True):
                static_cache.can_fuse = lambda *_, is_fused=is_fused: is_fused
                torch.manual_seed(0)
                with torch.inference_mode():
                    static = model.static_state(3, 9, hypotheses, steps)
                    static.begin(source, token_mask)
                    logits = []
                    for _ in range(steps):
                        tokens = torch.randint(3, 20, (3 * hypotheses,)).to(device)
                        own = torch.randint(0, hypotheses, (3, hypotheses))
                        order = (own + hypotheses * torch.arange(3)[:, None]).flatten().to(device)
                        logits.append(static.step(tokens, order).clone())
                outputs.append(torch.stack(logits))
            torch.testing.assert_close(outputs[1], outputs[0], atol=1e-4, rtol=1e-4)


@needs_kernels
def test_fused_steps_compute_what_the_blocks_compute():
    folder = str(Path(__file__).parent)
    assert complaint(f"import sys; sys.path.insert(0, {folder!r}); import test_fused_step as t; t.compare()") == ""


class OnGpu:
    """What the rule asks of a weight."""

    is_cuda = True

    def __init__(self, dtype):
        self.dtype = dtype


@pytest.mark.parametrize("has_compiler", [True, False])
def test_common_settings_on_a_gpu_are_fused_where_triton_is_installed(has_compiler, monkeypatch):
    monkeypatch.setattr("regard.models.transformer.fused_step.has_triton", lambda: has_compiler)
    settings = small_settings(norm_order="pre")
    assert can_fuse(settings, OnGpu(torch.float32), 1000) == has_compiler
    assert can_fuse(settings, OnGpu(torch.bfloat16), 8) == has_compiler
    assert not can_fuse(settings, OnGpu(torch.bfloat16), 9)  # matrix products are faster there
    assert not can_fuse(settings, torch.zeros(2), 8)
    for changes in ({"norm_order": "post"}, {"norm": "rms"}, {"key_value_heads": 2}, {"activation": "swiglu"}):
        other = small_settings(**{"norm_order": "pre"} | changes)
        assert not can_fuse(other, OnGpu(torch.float32), 8), changes

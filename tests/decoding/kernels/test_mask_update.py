"""The fused update of mask-predict against torch: on a CUDA device, or interpreted where only the compiler is."""

import sys
from pathlib import Path

import torch

from own_kernels import complaint, needs_kernels
from regard.decoding.search.mask_predict import MaskPredictState, can_fuse, candidate_rows, fill_in, likely_lengths
from regard.decoding.settings import MaskPredictDecoding
from small import ENDS, small_mask_predict, sources


def compare():
    """Decode with and without the kernels, in fp32 and on a GPU in bf16 too."""
    module = sys.modules["regard.decoding.search.mask_predict"]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for dtype in (torch.float32, torch.bfloat16) if device.type == "cuda" else (torch.float32,):
        model = small_mask_predict().to(device, dtype).eval()
        source, token_mask = (each.to(device) for each in sources([9, 3, 7, 5, 1, 8]))
        for iterations in (1, 4, 7):
            state = MaskPredictState.of(ENDS, MaskPredictDecoding(iterations=iterations))
            outputs = []
            for is_fused in (False, True):
                module.can_fuse = lambda *_, is_fused=is_fused: is_fused
                with torch.inference_mode():
                    memory = model.encode(source, token_mask)
                    lengths, _ = likely_lengths(model, memory, 3)
                    memory = model.ready(memory).select(candidate_rows(lengths))
                    width, never = int(lengths.max()) + 1, state.suppressed_tensor(device)
                    outputs.append(fill_in(model, memory, lengths.flatten(), width, state, never, is_alone=True))
            assert torch.equal(outputs[0][0], outputs[1][0])
            torch.testing.assert_close(outputs[1][1], outputs[0][1], atol=1e-4, rtol=1e-4)


def mask_by_kernel():
    """Mask a single output by the kernel, and compare with a sort."""
    from regard.decoding.kernels.mask_update import mask_least_confident

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokens = torch.arange(10, 17, device=device)[None].contiguous()
    confidence = torch.tensor([[-1.0, -5.0, -2.0, -5.0, -0.5, float("inf"), float("inf")]], device=device)
    words = torch.tensor([5], device=device)
    chosen = mask_least_confident(tokens, confidence, words, 2, 2, 4, 3)  # 5 * 2 // 4 of them
    assert chosen.tolist() == [[1, 3, 0]] and tokens.tolist() == [[10, 2, 12, 2, 14, 15, 16]]


@needs_kernels
def test_the_kernels_mask_and_predict_what_torch_does():
    folder = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); import test_mask_update as t; t.mask_by_kernel(); t.compare()"
    )
    assert complaint(code) == ""


def test_a_cpu_never_uses_the_kernels():
    assert not can_fuse(torch.zeros(2, 9), torch.zeros(40, 8))

"""The kernels of mask-predict against torch: on a CUDA device, or interpreted where there is only the compiler."""

from own_kernels import complaint, needs_kernels

CODE = """
import sys
import torch
from small import ENDS, small_mask_predict, sources
from regard.decoding.settings import MaskPredictDecodeSettings
from regard.decoding.search.mask_predict import MaskPredictState, candidate_rows, fill_in, likely_lengths
module = sys.modules["regard.decoding.search.mask_predict"]

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for dtype in (torch.float32, torch.bfloat16) if device.type == "cuda" else (torch.float32,):
    model = small_mask_predict().to(device, dtype).eval()
    source, token_mask = (each.to(device) for each in sources([9, 3, 7, 5, 1, 8]))
    for passes in (1, 4, 7):
        filling = MaskPredictState.of(ENDS, MaskPredictDecodeSettings(iterations=passes))
        found = []
        for is_fused in (False, True):
            module.can_fuse = lambda *_: is_fused
            with torch.inference_mode():
                memory = model.encode(source, token_mask)
                lengths, _ = likely_lengths(model, memory, 3)
                memory = model.ready(memory).select(candidate_rows(lengths))
                width, never = int(lengths.max()) + 1, filling.suppressed_tensor(device)
                found.append(fill_in(model, memory, lengths.flatten(), width, filling, never, is_alone=True))
        assert torch.equal(found[0][0], found[1][0])
        torch.testing.assert_close(found[1][1], found[0][1], atol=1e-4, rtol=1e-4)
"""


@needs_kernels
def test_the_kernels_mask_and_say_what_torch_does():
    assert complaint(CODE) == ""

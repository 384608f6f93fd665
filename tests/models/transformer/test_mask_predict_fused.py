"""Outputs filled in by few kernels: on a CUDA device, or interpreted where there is only the compiler."""

from own_kernels import complaint, needs_kernels

CODE = """
import torch
from small import small_mask_predict, sources
from regard.models.transformer import mask_predict

device = "cuda" if torch.cuda.is_available() else "cpu"
for changes in ({}, {"positions": "learned", "has_bias": False}, {"activation": "gelu-tanh"}):
    model = small_mask_predict(norm_order="pre", **changes).to(device).eval()
    source, token_mask = (each.to(device) for each in sources([9, 3, 7]))
    target, target_real = (each.to(device) for each in sources([4, 11, 2]))
    found = []
    for is_fused in (False, True):
        mask_predict.can_fuse = lambda *_: is_fused
        with torch.inference_mode():
            memory = model.ready(model.encode(source, token_mask, is_alone=True))
            filled = model.decode(target, memory, target_real, is_alone=True)
        found.append([memory.states[token_mask], filled[target_real]])
    torch.testing.assert_close(found[1], found[0], atol=1e-4, rtol=1e-4)
    assert not torch.equal(found[1][1], found[0][1])  # another way indeed
"""


@needs_kernels
def test_few_kernels_fill_in_what_the_blocks_do():
    assert complaint(CODE) == ""

"""Steps in few kernels against the blocks: on a CUDA device, or interpreted where there is only the compiler."""

from own_kernels import complaint, needs_kernels

CODE = """
import torch
from small import small_transformer, sources
from regard.models.transformer import static_cache as transformer_fixed

device = "cuda" if torch.cuda.is_available() else "cpu"
for changes in ({}, {"positions": "rotary"}, {"has_bias": False, "positions": "alibi", "has_output_bias": True}):
    model = small_transformer(norm_order="pre", **changes).to(device)
    source, token_mask = (each.to(device) for each in sources([9, 3, 7]))
    for hypotheses, steps in ((2, 3), (5, 16)):  # few rows, and more; more slots than a block has
        found = []
        for is_fused in (False, True):
            transformer_fixed.can_fuse = lambda *_: is_fused
            torch.manual_seed(0)
            with torch.inference_mode():
                fixed = model.static_state(3, 9, hypotheses, steps)
                fixed.begin(source, token_mask)
                logits = []
                for step in range(steps):
                    tokens = torch.randint(3, 20, (3 * hypotheses,)).to(device)
                    own = torch.randint(0, hypotheses, (3, hypotheses))
                    order = (own + hypotheses * torch.arange(3)[:, None]).flatten().to(device)
                    logits.append(fixed.step(tokens, order).clone())
            found.append(torch.stack(logits))
        torch.testing.assert_close(found[1], found[0], atol=1e-4, rtol=1e-4)
"""


@needs_kernels
def test_few_kernels_compute_what_the_blocks_do():
    assert complaint(CODE) == ""

"""Steps of a GPT with a static cache, against plain reading."""

import pytest
import torch
from torch.testing import assert_close

from language import padded_in_front, small_language_model
from own_kernels import complaint, needs_kernels
from regard.models.gpt.model import GptSettings
from regard.models.gpt.static_cache import StaticGptState
from small import random_tokens

SIZES = {"width": 16, "heads": 4, "layers": 2, "feed_forward_width": 24, "max_positions": 40}
VARIANTS = {
    "gpt2": {},
    "gpt": {"norm_order": "post"},
    "rotary": {"positions": "rotary", "norm": "rms", "activation": "swiglu", "has_bias": False, "key_value_heads": 2},
    "alibi": {"positions": "alibi"},
    "relative": {"positions": "relative"},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_static_steps_are_plain_reading(name):
    model = small_language_model(GptSettings(**SIZES | VARIANTS[name]))
    lengths = [6, 2, 4]
    tokens, token_mask = padded_in_front(random_tokens(3, 6), lengths)
    more = random_tokens(3, 9, seed=1)
    with torch.inference_mode():
        state, plain = model.start(), model.start()
        model.hidden_states(tokens, state, token_mask)
        model.hidden_states(tokens, plain, token_mask)
        fixed = model.static_text_state(4, 10)  # a row and a few slots more than are needed at first
        used = fixed.load(state, torch.arange(3))
        assert used == 6
        for step in range(9):
            if used == fixed.slots:
                larger = model.static_text_state(4, 20)
                larger.take(fixed, used)
                fixed = larger
            padded = torch.cat((more[:, step], torch.zeros(1, dtype=torch.long)))
            found = fixed.step(padded)[:3]
            used += 1
            wanted = model.project(model.hidden_states(more[:, step : step + 1], plain)[:, 0]).float()
            assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_a_text_may_be_loaded_into_several_rows():
    model = small_language_model(GptSettings(**SIZES))
    with torch.inference_mode():
        state = model.start()
        model.hidden_states(random_tokens(2, 5), state)
        fixed = StaticGptState(model, 4, 8)
        assert (
            not fixed.is_fused and fixed.size == 2 * 2 * 4 * 8 * 16 * 8
        )  # layers, keys and values, rows, slots, fp64
        fixed.load(state, torch.tensor([0, 0, 1, 1]))
        logits = fixed.step(torch.tensor([5, 5, 5, 5]))
    assert_close(logits[0], logits[1])
    assert_close(logits[2], logits[3])
    assert (logits[0] - logits[2]).abs().max() > 1e-3


CODE = """
import torch
from language import padded_in_front, small_language_model
from regard.models.gpt import static_cache as gpt_fixed
from regard.models.gpt.model import GptSettings
from small import random_tokens

device = "cuda" if torch.cuda.is_available() else "cpu"
for changes in ({}, {"positions": "rotary", "activation": "relu"}, {"has_bias": False, "positions": "alibi"}):
    settings = GptSettings(width=16, heads=2, layers=2, feed_forward_width=24, max_positions=40, **changes)
    model = small_language_model(settings).float().to(device)
    for rows in (3, 12):  # few rows, and more
        tokens, token_mask = padded_in_front(random_tokens(rows, 6), [6, 2, 4] * (rows // 3))
        found = []
        for is_fused in (False, True):
            gpt_fixed.can_fuse = lambda *_: is_fused
            with torch.inference_mode():
                state = model.start()
                model.hidden_states(tokens.to(device), state, token_mask.to(device))
                fixed = model.static_text_state(rows, 80)
                fixed.load(state, torch.arange(rows, device=device))
                found.append(torch.stack([fixed.step(torch.full((rows,), t, device=device)) for t in (3, 5, 7, 4)]))
        torch.testing.assert_close(found[1], found[0], atol=1e-4, rtol=1e-4)
    # In bfloat16, from the same weights and the same past: what lies between kernels is rounded to 8 bits.
    exact = model.bfloat16().float()
    tokens = random_tokens(3, 6)
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        gpt_fixed.can_fuse = lambda *_: dtype == torch.bfloat16
        with torch.inference_mode():
            state = exact.float().start()
            exact.hidden_states(tokens.to(device), state)
            fixed = exact.to(dtype).static_text_state(3, 80)
            fixed.load(state, torch.arange(3, device=device))
            found.append(torch.stack([fixed.step(torch.full((3,), t, device=device)) for t in (3, 5, 7, 4)]))
    assert found[1].dtype == torch.float32
    spread = found[0].std()
    assert (found[1] - found[0]).abs().max() < 0.1 * spread and (found[1] - found[0]).std() < 0.02 * spread
"""


@needs_kernels
def test_few_kernels_compute_what_the_blocks_do():
    assert complaint(CODE) == ""

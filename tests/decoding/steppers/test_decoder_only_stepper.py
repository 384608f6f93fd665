"""Prefill and cached steps of decoder-only models, and the start of the context window."""

import pytest
import torch
from torch.testing import assert_close

from language import small_language_model
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper, window_start
from regard.models.gpt.model import GptSettings

PROMPTS = [[4, 5, 6, 7, 8], [9], [10, 11, 12]]


@pytest.mark.parametrize("length, expected", [(0, 0), (8, 0), (9, 5), (13, 5), (14, 10), (18, 10), (19, 15)])
def test_a_full_window_keeps_its_newest_half(length, expected):
    assert window_start(length, 8) == expected
    assert window_start(length, None) == 0


@pytest.mark.parametrize("window", [1, 2, 3, 7, 8])
def test_a_window_is_never_empty_and_never_too_long(window):
    begins = [window_start(length, window) for length in range(1, 100)]
    sizes = [length - begin for length, begin in enumerate(begins, start=1)]
    assert min(sizes) >= 1 and max(sizes) == window
    assert all(size == max(1, window // 2) for size, a, b in zip(sizes[1:], begins, begins[1:]) if b > a)


def small_gpt():
    return small_language_model(GptSettings(width=16, heads=4, layers=2, feed_forward_width=24, max_positions=30))


def logits_after(model, ids):
    """Compute the next-token logits without a cache or a batch."""
    return model(torch.tensor([ids]))[0, -1].float()


@torch.no_grad()
def test_prefill_and_steps_equal_uncached_single_rows():
    model = small_gpt()
    stepper = DecoderOnlyStepper(model, 0)
    texts = [list(prompt) for prompt in PROMPTS]
    logits = stepper.begin(texts)
    for token in (5, 17, 23):
        assert_close(logits, torch.stack([logits_after(model, ids) for ids in texts]), atol=1e-5, rtol=1e-5)
        for number, ids in enumerate(texts):
            ids.append(token + number)
        logits = stepper.step([ids[-1] for ids in texts])
    assert_close(logits, torch.stack([logits_after(model, ids) for ids in texts]), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("is_shared", [True, False])
@torch.no_grad()
def test_selected_rows_extend_their_own_texts(is_shared):
    model = small_gpt()
    stepper = DecoderOnlyStepper(model, 0)
    stepper.begin(PROMPTS)
    stepper.select([2, 2, 0, 0], [2, 0]) if is_shared else stepper.select([2, 2, 0, 0], [2, 2, 0, 0])
    tokens = [5, 6, 7, 8]
    expected = [logits_after(model, [*PROMPTS[text], token]) for text, token in zip((2, 2, 0, 0), tokens)]
    assert_close(stepper.step(tokens), torch.stack(expected), atol=1e-5, rtol=1e-5)

"""Prefill and cached steps of decoder-only models, and the start of the context window."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from language import small_language_model
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper, window_start
from regard.decoding.steppers.interface import Request
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
    logits = stepper.admit([Request(ids, 9) for ids in texts])
    for token in (5, 17, 23):
        assert_close(logits, torch.stack([logits_after(model, ids) for ids in texts]), atol=1e-5, rtol=1e-5)
        for number, ids in enumerate(texts):
            ids.append(token + number)
        logits = stepper.step(torch.tensor([ids[-1] for ids in texts]))
    assert_close(logits, torch.stack([logits_after(model, ids) for ids in texts]), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("is_shared", [True, False])
@torch.no_grad()
def test_reordered_rows_extend_their_own_texts(is_shared):
    model = small_gpt()
    stepper = DecoderOnlyStepper(model, 0)
    stepper.admit([Request(ids, 9) for ids in PROMPTS], 2, is_shared)
    rows = torch.tensor([4, 5, 0, 1])
    stepper.reorder(rows, torch.tensor([2, 0]) if is_shared else rows)
    tokens = [5, 6, 7, 8]
    expected = [logits_after(model, [*PROMPTS[text], token]) for text, token in zip((2, 2, 0, 0), tokens)]
    assert_close(stepper.step(torch.tensor(tokens)), torch.stack(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("window", [None, 6, 9])
@torch.no_grad()
def test_branches_of_texts_that_join_equal_uncached_rows_past_the_window_too(window):
    model, random = small_gpt(), np.random.default_rng(1)
    stepper, texts = DecoderOnlyStepper(model, 0, window), []
    for step in range(16):
        if step in (0, 2, 9):
            prompts = [[step + 4], [7, step, 5]]
            logits = stepper.admit([Request(ids, 9) for ids in prompts], 2)
            assert_close(logits, torch.stack([logits_after(model, ids) for ids in prompts]), atol=1e-5, rtol=1e-5)
            texts += [list(ids) for ids in prompts for _ in range(2)]
        if step == 7:  # the second of four requests leaves
            stepper.reorder(torch.tensor([0, 1, 4, 5, 6, 7]), torch.tensor([0, 2, 3]))
            texts = [texts[row] for row in (0, 1, 4, 5, 6, 7)]
        tokens = random.integers(4, 30, len(texts))
        for text, token in zip(texts, tokens.tolist(), strict=True):
            text.append(token)
        expected = [logits_after(model, text[window_start(len(text), window) :]) for text in texts]
        assert_close(stepper.step(torch.from_numpy(tokens)), torch.stack(expected), atol=1e-5, rtol=1e-5)
        origins = [row // 2 * 2 + random.integers(2) for row in range(len(texts))]
        texts = [list(texts[row]) for row in origins]
        stepper.reorder(torch.tensor(origins))

"""Time by sequence length on random tokens: a training step, and decoding one sentence."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.decoding.cuda_graphs.encoder_decoder import build_encoder_decoder_stepper
from regard.decoding.search.mask_predict import mask_predict
from regard.decoding.settings import MaskPredictDecoding
from regard.decoding.steppers.interface import Request, SpecialTokens
from regard.models.base.protocols import is_conditional_masked
from regard.models.base.settings import Vocabularies
from regard.nn.inference.prepacked import packed
from regard.objectives.loss import Objective
from regard.objectives.mask_predict import MaskedTranslationObjective
from regard.objectives.translation import TranslationObjective
from regard.tasks.translate.losses import fixed_masks

LENGTHS = (8, 16, 32, 64, 128)
ROWS = 8
"""Sentences per training step."""
REPEATS = 3
"""Timed repetitions, of which the median is taken."""
TIME_LIMIT = 6.0
"""Seconds after which longer sequences are left out."""
SPECIAL = 4
"""Ids that may be padding, unknown, BOS and EOS, which are not sampled."""


def time_by_length(model: Any, vocabularies: Vocabularies, device: torch.device) -> dict[str, Any]:
    """Return, for each length, milliseconds of a training step and of decoding one sentence."""
    bound = model.max_positions
    lengths = [length for length in LENGTHS if bound is None or length <= bound]
    training = _within_limit(lengths, lambda length: _step(model, vocabularies, length, device), device)
    model.zero_grad(set_to_none=True)
    model.eval()
    decoding = _within_limit(lengths, lambda length: _sentence(model, vocabularies, length, device), device)
    return {"lengths": lengths, "rows": ROWS, "training_ms": training, "decoding_ms": decoding}


def _within_limit(lengths: list[int], work: Callable[[int], Callable[[], None]], device: torch.device) -> list[float]:
    times: list[float] = []
    started = time.perf_counter()
    for length in lengths:
        if time.perf_counter() - started > TIME_LIMIT:
            break
        call = work(length)
        call()  # the first call allocates
        times.append(1000 * statistics.median(_seconds(call, device) for _ in range(REPEATS)))
    return times


def _seconds(call: Callable[[], None], device: torch.device) -> float:
    _wait(device)
    started = time.perf_counter()
    call()
    _wait(device)
    return time.perf_counter() - started


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _step(model: Any, vocabularies: Vocabularies, length: int, device: torch.device) -> Callable[[], None]:
    """Return a function that computes the gradients of one training step."""
    pairs = random_pairs(vocabularies, ROWS, length)
    is_masked = is_conditional_masked(model)
    batch = (fixed_masks(pairs) if is_masked else pairs).batch(np.arange(ROWS)).to(device)
    objective: Objective = (MaskedTranslationObjective if is_masked else TranslationObjective)(label_smoothing=0.1)

    def step() -> None:
        model.train()
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            objective(model, batch)["ce"].sum.backward()

    return step


def _sentence(model: Any, vocabularies: Vocabularies, length: int, device: torch.device) -> Callable[[], None]:
    """Return a function that decodes as many tokens as the source has: one by one, or by mask-predict iterations."""
    batch = random_pairs(vocabularies, 1, length).batch(np.arange(1)).to(device)
    lengths = torch.full((1, 1), length, device=device)

    @torch.inference_mode()
    def sentence() -> None:
        with packed(model):
            if is_conditional_masked(model):
                special, settings = SpecialTokens(int(batch.target[0, 0]), 0, ()), MaskPredictDecoding()
                mask_predict(model, batch.source, batch.source_mask, special, settings, lengths=lengths)
                return
            stepper = build_encoder_decoder_stepper([model], int(batch.target[0, 0]))
            tokens = stepper.admit([Request(batch.source[0].tolist(), length)]).argmax(-1)
            for _ in range(length - 1):
                tokens = stepper.step(tokens).argmax(-1)

    return sentence


def random_pairs(vocabularies: Vocabularies, rows: int, length: int) -> EncodedPairs:
    """Return pairs of random tokens of one length on both sides."""
    random = np.random.default_rng(length)
    sides = [
        Sequences.of(random.integers(min(SPECIAL, size - 1), size, (rows, length)).astype(np.int32))
        for size in (vocabularies.source, vocabularies.target)
    ]
    return EncodedPairs(sides[0], sides[1], 0, 0, min(2, vocabularies.target - 1))

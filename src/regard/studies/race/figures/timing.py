"""Time against length, on random tokens: what must be done word by word, and what is done at once."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.decoding.cuda_graphs.encoder_decoder import build_stepper
from regard.decoding.search.mask_predict import mask_predict
from regard.decoding.settings import MaskPredictDecodeSettings
from regard.decoding.steppers.interface import SpecialTokens
from regard.models.base.protocols import Vocabularies, is_conditional_masked
from regard.nn.inference.prepacked import packed
from regard.objectives.loss import Objective
from regard.objectives.mask_predict import MaskedTranslationObjective
from regard.objectives.translation import TranslationObjective
from regard.tasks.translate.losses import fixed_masks

LENGTHS = (8, 16, 32, 64, 128)
ROWS = 8
"""Sentences in a training step."""
REPEATS = 3
PATIENCE = 6.0
"""Seconds after which longer ones are left out."""
SPECIAL = 4
"""The first ids may be padding, unknown, start and end."""


def time_by_length(model: Any, vocabularies: Vocabularies, device: torch.device) -> dict[str, Any]:
    """Return, for each length, milliseconds of a training step and of decoding one sentence, by tokens or passes."""
    bound = model.max_positions
    lengths = [length for length in LENGTHS if bound is None or length <= bound]
    training = _until_impatient(lengths, lambda length: _step(model, vocabularies, length, device), device)
    model.zero_grad(set_to_none=True)
    model.eval()
    decoding = _until_impatient(lengths, lambda length: _sentence(model, vocabularies, length, device), device)
    return {"lengths": lengths, "rows": ROWS, "training_ms": training, "decoding_ms": decoding}


def _until_impatient(
    lengths: list[int], work: Callable[[int], Callable[[], None]], device: torch.device
) -> list[float]:
    found: list[float] = []
    began = time.perf_counter()
    for length in lengths:
        if time.perf_counter() - began > PATIENCE:
            break
        once = work(length)
        once()  # the first time allocates
        found.append(1000 * statistics.median(_clocked(once, device) for _ in range(REPEATS)))
    return found


def _clocked(work: Callable[[], None], device: torch.device) -> float:
    _wait(device)
    started = time.perf_counter()
    work()
    _wait(device)
    return time.perf_counter() - started


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _step(model: Any, vocabularies: Vocabularies, length: int, device: torch.device) -> Callable[[], None]:
    """Return what computes the gradients of one training step."""
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
    """Return what decodes as many tokens as the source has: each after the one before, or all in the usual passes."""
    batch = random_pairs(vocabularies, 1, length).batch(np.arange(1)).to(device)
    lengths = torch.full((1, 1), length, device=device)

    @torch.inference_mode()
    def sentence() -> None:
        with packed(model):
            if is_conditional_masked(model):
                ends, settings = SpecialTokens(int(batch.target[0, 0]), 0, ()), MaskPredictDecodeSettings()
                mask_predict(model, batch.source, batch.source_mask, ends, settings, lengths=lengths)
                return
            stepper = build_stepper([model], batch.source, batch.source_mask)
            tokens = batch.target[:, 0]
            for _ in range(length):
                tokens = stepper.step(tokens).argmax(-1)

    return sentence


def random_pairs(vocabularies: Vocabularies, rows: int, length: int) -> EncodedPairs:
    """Return pairs of random tokens, all of one length on both sides."""
    draw = np.random.default_rng(length)
    sides = [
        Sequences.of(draw.integers(min(SPECIAL, size - 1), size, (rows, length)).astype(np.int32))
        for size in (vocabularies.source, vocabularies.target)
    ]
    return EncodedPairs(sides[0], sides[1], 0, 0, min(2, vocabularies.target - 1))

"""Probabilities of labels and choices for many examples, in batches, back in their order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.examples import EncodedExamples
from regard.data.sampler import micro_batches
from regard.nn import with_less_at_once
from regard.progress import SILENT, Progress

Probabilities = NDArray[np.float64]


def answer_probabilities(
    model: Any,
    examples: EncodedExamples,
    device: torch.device,
    limit: int,
    progress: Progress = SILENT,
) -> list[Probabilities]:
    """Return the probabilities of all labels, or of all choices, for each example.

    About `limit` padded tokens go at once; where memory runs out, fewer.
    """
    longest = int(examples.lengths[1].max()) if len(examples) else 0
    attempt = lambda limit: _probabilities(model, examples, device, limit, progress)
    return with_less_at_once(attempt, limit, longest, device)


@torch.inference_mode()
def _probabilities(
    model: Any, examples: EncodedExamples, device: torch.device, limit: int, progress: Progress
) -> list[Probabilities]:
    found: list[Probabilities] = [np.zeros(0)] * len(examples)
    if not len(examples):
        return found
    with progress.bar("answer", len(examples)) as bar:
        for rows in micro_batches(np.arange(len(examples)), *examples.lengths, limit):
            batch = examples.batch(rows).to(device)
            scores = model(batch.tokens, batch.extracts, batch.offered).double()  # (B, C), or (B, K)
            has_choices = model.kind == "choices"
            counts = batch.offered.sum(1).tolist() if has_choices else [scores.size(1)] * len(rows)
            for row, count, values in zip(rows, counts, scores.softmax(1).cpu().numpy(), strict=True):
                found[row] = values[:count]
            bar.advance(len(rows))
    return found


def surprise(probabilities: Sequence[Probabilities], labels: NDArray[np.int64]) -> float:
    """Return the mean negative log probability of the right answers."""
    tiny = np.finfo(np.float64).tiny
    right = [each[label] for each, label in zip(probabilities, labels, strict=True)]
    return float(-np.log(np.maximum(right, tiny)).mean())

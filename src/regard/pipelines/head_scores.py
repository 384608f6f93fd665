"""What a model with a head says of many examples, in batches, back in their order."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.encoding.labeled import HeadBatch
from regard.data.feeds.sampler import Rows, micro_batches
from regard.nn.inference.memory import retry_smaller
from regard.progress import SILENT, Progress

Scores = NDArray[np.float64]
Probabilities = NDArray[np.float64]


class Encoded(Protocol):
    """Examples as ids, to be answered row by row."""

    def __len__(self) -> int: ...

    @property
    def lengths(self) -> tuple[Rows, Rows]:
        """Tokens of each row."""

    def batch(self, rows: Rows) -> HeadBatch:
        """Return some of the rows as one batch."""

    def answers_in(self, rows: Rows) -> Rows:
        """Return how many answers each row asks for."""


def head_outputs(
    model: Any, examples: Encoded, device: torch.device, limit: int, progress: Progress = SILENT
) -> list[Scores]:
    """Return what the head says of each row: scores of labels (C,), of what is offered (K,) or (K, 2), or one number;
    of a row with several answers, such as the tags of its words (W, C).

    About `limit` padded tokens go at once; where memory runs out, fewer.
    """
    longest = int(examples.lengths[1].max()) if len(examples) else 0
    attempt = lambda limit: _scores(model, examples, device, limit, progress)
    return retry_smaller(attempt, limit, longest, device)


@torch.inference_mode()
def _scores(model: Any, examples: Encoded, device: torch.device, limit: int, progress: Progress) -> list[Scores]:
    found: list[Scores] = [np.zeros(0)] * len(examples)
    if not len(examples):
        return found
    with progress.bar("answer", len(examples)) as bar:
        for rows in micro_batches(np.arange(len(examples)), *examples.lengths, limit):
            batch = examples.batch(rows).to(device)
            scores = model(batch.reading, batch.places, batch.candidate_mask).double().cpu().numpy()
            candidate_mask = batch.candidate_mask.sum(1).cpu().numpy()
            if model.kind == "token-classification":
                each = np.split(scores, np.cumsum(examples.answers_in(rows))[:-1])
            elif model.kind in ("multiple-choice", "extractive-qa"):
                each = [values[:count] for values, count in zip(scores, candidate_mask, strict=True)]
            else:
                each = list(scores)
            for row, values in zip(rows, each, strict=True):
                found[row] = values
            bar.advance(len(rows))
    return found


def softmax(scores: Scores) -> Probabilities:
    """Return probabilities out of scores, over the last axis."""
    odds = np.exp(scores - scores.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


def mean_nll(probabilities: Sequence[Probabilities], labels: Sequence[int] | NDArray[Any]) -> float:
    """Return the mean negative log-likelihood of the true labels."""
    tiny = np.finfo(np.float64).tiny
    right = [each[label] for each, label in zip(probabilities, labels, strict=True)]
    return float(-np.log(np.maximum(right, tiny)).mean())

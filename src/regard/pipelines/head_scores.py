"""Batched inference of a model with a task head: outputs in the order of the examples."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.cancellation import end_if_cancelled
from regard.data.feeds.sampler import Rows, micro_batches
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    import torch

    from regard.data.encoding.labeled import HeadBatch

Scores = NDArray[np.float64]
Probabilities = NDArray[np.float64]


class Encoded(Protocol):
    """Encoded examples of a model with a task head."""

    def __len__(self) -> int: ...

    @property
    def lengths(self) -> tuple[Rows, Rows]:
        """Lengths of the rows in tokens."""

    def batch(self, rows: Rows) -> "HeadBatch":
        """Return rows as one batch."""

    def answers_in(self, rows: Rows) -> Rows:
        """Return the number of outputs of each row."""


def head_outputs(
    model: Any, examples: Encoded, device: "torch.device", limit: int, progress: Progress = SILENT
) -> list[Scores]:
    """Return the head's outputs for each row: scores of labels (C,), of candidates (K,) or (K, 2), or one number;
    for token classification those of its words (W, C).

    A batch has about `limit` padded tokens, fewer when out of memory.
    """
    from regard.nn.inference.memory import retry_smaller

    longest = int(examples.lengths[1].max()) if len(examples) else 0
    attempt = lambda limit: _scores(model, examples, device, limit, progress)
    return retry_smaller(attempt, limit, longest, device)


def _scores(model: Any, examples: Encoded, device: "torch.device", limit: int, progress: Progress) -> list[Scores]:
    import torch

    from regard.training.parallel.division import map_arrays

    outputs: list[Scores] = [np.zeros(0)] * len(examples)
    if not len(examples):
        return outputs
    with torch.inference_mode(), progress.bar("predict", len(examples)) as bar:

        def of_batch(rows: Rows) -> Scores:
            end_if_cancelled()
            batch = examples.batch(rows).to(device)
            scores = model(batch.reading, batch.places, batch.candidate_mask).double().cpu().numpy()
            candidates = batch.candidate_mask.sum(1).cpu().numpy()
            if model.kind == "token-classification":
                each = np.split(scores, np.cumsum(examples.answers_in(rows))[:-1])
            elif model.kind in ("multiple-choice", "extractive-qa"):
                each = [values[:count] for values, count in zip(scores, candidates, strict=True)]
            else:
                each = list(scores)
            bar.advance(len(rows))
            return _packed(each)

        batches = list(micro_batches(np.arange(len(examples)), *examples.lengths, limit))
        for rows, packed in zip(batches, map_arrays(batches, of_batch), strict=True):
            for row, values in zip(rows, _unpacked(packed), strict=True):
                outputs[row] = values
    return outputs


def _packed(rows: Sequence[Scores]) -> Scores:
    """Return arrays of any shape in one: the number of dimensions of each, their sizes, its values."""
    return np.concatenate([[np.ndim(each), *np.shape(each), *np.ravel(each)] for each in rows])


def _unpacked(numbers: Scores) -> Iterator[Scores]:
    """Yield the arrays that `_packed` has put together."""
    while len(numbers):
        dimensions = int(numbers[0])
        shape = tuple(int(size) for size in numbers[1 : 1 + dimensions])
        end = 1 + dimensions + math.prod(shape)
        yield numbers[1 + dimensions : end].reshape(shape)[()]
        numbers = numbers[end:]


def softmax(scores: Scores) -> Probabilities:
    """Return the probabilities of scores, over the last axis."""
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def sigmoid(scores: Scores) -> Probabilities:
    """Return the probabilities of logits, each on its own."""
    return np.exp(-np.logaddexp(0.0, -scores))


def mean_nll(probabilities: Sequence[Probabilities], labels: Sequence[int] | NDArray[Any]) -> float:
    """Return the mean negative log-likelihood of the true labels."""
    tiny = np.finfo(np.float64).tiny
    likelihoods = [each[label] for each, label in zip(probabilities, labels, strict=True)]
    return float(-np.log(np.maximum(likelihoods, tiny)).mean())

"""Negative log-likelihoods of labels, summed by document or block of a text: what intervals and tests resample."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.corpus.corpus import Corpus
from regard.errors import DataError
from regard.metrics.bootstrap import Numbers, Statistic
from regard.nn.layers.dtensor import logits_of
from regard.nn.layers.linear import as_product
from regard.objectives.cross_entropy import chunk_rows
from regard.text.tokenizer import Tokenizer

FEWEST_DOCUMENTS = 20
"""Documents from which on they are resampled whole; texts of fewer are cut into blocks."""
BLOCK = 64
"""Tokens of a block."""


@dataclass(frozen=True)
class LabelLosses:
    """The negative log-likelihood of each label in nats, and whether it is the most probable one."""

    nll: NDArray[np.float64]
    hits: NDArray[np.bool_]


def label_losses(hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor) -> LabelLosses:
    """Return the losses of labels (N,) under softmax(hidden (N, D) · weightᵀ (D, V) + bias), a chunk at a time."""
    nll, hits = list[Any](), list[Any]()
    hidden = as_product(hidden)
    for part in chunk_rows(hidden, weight.size(0)):
        logits = logits_of(hidden[part], weight, bias).float()  # (n, V)
        nll.append(F.cross_entropy(logits, labels[part], reduction="none").double().cpu().numpy())
        hits.append((logits.argmax(1) == labels[part]).cpu().numpy())
    return LabelLosses(np.concatenate(nll or [np.zeros(0)]), np.concatenate(hits or [np.zeros(0, bool)]))


@dataclass(frozen=True)
class TextUnits:
    """The parts of a text that are resampled: (N,) tokens, bytes and words of each."""

    name: str
    """Their name in signatures: "documents" or "blocks of 64 tokens"."""
    begins: NDArray[np.int64]
    bytes: Numbers
    words: Numbers

    @classmethod
    def of(cls, corpus: Corpus) -> "TextUnits":
        """Return the documents of a text; where it has few, blocks, each with its part of the bytes and words."""
        sizes = np.array([each[:4] for each in corpus.document_sizes()], np.int64).reshape(-1, 4)
        if len(sizes) >= FEWEST_DOCUMENTS:
            return cls("documents", sizes[:, 0], sizes[:, 2].astype(float), sizes[:, 3].astype(float))
        begins = np.arange(0, len(corpus), BLOCK)
        fraction = np.diff([*begins, len(corpus)]) / len(corpus)
        totals = corpus.counts.bytes, corpus.counts.words
        return cls(f"blocks of {BLOCK} tokens", begins, totals[0] * fraction, totals[1] * fraction)

    def sums(self, values: NDArray[np.float64]) -> Numbers:
        """Return the sum over each part of a value for each token of the text."""
        return np.add.reduceat(values, self.begins)


def tokenizer_hash(tokenizer: Tokenizer) -> str:
    """Return the beginning of a tokenizer's hash, for signatures of metrics that depend on it."""
    return hashlib.sha256(tokenizer.to_json().encode()).hexdigest()[:8]


def unit_lines(*columns: Numbers) -> tuple[str, ...]:
    """Return a line for each unit: its sums, separated by spaces."""
    return tuple(" ".join(f"{value:.10g}" for value in row) for row in zip(*columns, strict=True))


def unit_columns(lines: Sequence[str], columns: int, example: str) -> Numbers:
    """Return the sums (columns, N) in the lines of an evaluation."""
    try:
        table = np.array([[float(value) for value in line.split(" ")] for line in lines], float)
        if table.shape != (len(lines), columns) or not len(lines) or not np.isfinite(table).all():
            raise ValueError
    except ValueError:
        raise DataError(f"its lines are not {example}; name a passport or a file beside one.") from None
    return table.T


def values_of(statistics: Mapping[str, Statistic], count: int) -> dict[str, float]:
    """Return the value of each metric."""
    everything = np.ones(count)
    return {name: statistic(everything) for name, statistic in statistics.items()}

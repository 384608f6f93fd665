"""Evaluation of a language model: negative log-likelihood per token, byte and word."""

import math
from dataclasses import dataclass
from typing import Any

import torch

from regard.data.feeds.windows import Stream, sliding_windows
from regard.errors import DataError
from regard.nn.inference.memory import retry_smaller
from regard.objectives.language_model import LanguageObjective
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import Evaluation
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.records import LanguageFacts
from regard.training.device.machine import Machine

DEFAULT_WINDOW = 256
"""Context window in tokens of a model without a maximum."""


@dataclass(frozen=True)
class TextLoss:
    """The negative log-likelihood of a text, in nats."""

    total: float
    tokens: int

    @property
    def loss(self) -> float:
        """The mean of a token."""
        return self.total / self.tokens

    @property
    def perplexity(self) -> float:
        """The exponential of the mean."""
        return math.exp(min(self.loss, 700.0))


class StreamHead:
    """The first tokens of a stream."""

    def __init__(self, stream: Stream, count: int) -> None:
        self.stream, self.count = stream, min(count, len(stream))

    def __len__(self) -> int:
        return self.count

    def read(self, begin: int, end: int) -> Any:
        """Return the ids from `begin` to `end`."""
        return self.stream.read(begin, end)


def text_loss(
    model: Any, stream: Stream, end: int, window: int, stride: int, machine: Machine, count: int | None = None
) -> TextLoss:
    """Return the negative log-likelihood of (the first `count` tokens of) a stream, in windows as in training.

    Where memory runs out, fewer windows are computed together.
    """
    stream = stream if count is None else StreamHead(stream, count)
    return retry_smaller(
        lambda limit: _text_loss(model, stream, end, window, stride, machine, limit),
        machine.micro_batch_tokens,
        window,
        machine.device,
    )


@torch.inference_mode()
def _text_loss(
    model: Any, stream: Stream, end: int, window: int, stride: int, machine: Machine, limit: int
) -> TextLoss:
    objective, total, count = LanguageObjective(), 0.0, 0
    for batch in sliding_windows(stream, end, window, stride, limit):
        with machine.autocast():
            part = objective(model, batch.to(machine.device))["nll"]
        total, count = total + float(part.sum), count + part.count
    return TextLoss(total, count)


def evaluate_text(
    model: Any, chosen: EvalSet, end: int, window: int, machine: Machine, stride: int | None = None
) -> Evaluation:
    """Return the metrics of a model on a text; the default stride gives each token half a window of context at least.

    EOS after each document is predicted too and counts as a token. The perplexity of a word does not depend on the
    tokenizer, so models with other tokenizers can be compared by it.
    """
    name, corpus = chosen.name, chosen.rows
    if len(corpus) < 1:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    stride = max(1, window // 2) if stride is None else stride
    measured, counts = text_loss(model, corpus, end, window, stride, machine), corpus.counts
    rule = f"window {window}, stride {stride}"
    metrics = {
        "tokens": measured.tokens,
        "bytes": counts.bytes,
        "words": counts.words,
        "loss": measured.loss,
        "perplexity": measured.perplexity,
        "bits_per_byte": measured.total / math.log(2) / max(1, counts.bytes),
        "word_perplexity": math.exp(min(measured.total / max(1, counts.words), 700.0)),
        "window": window,
        "stride": stride,
        "test_set": corpus.fingerprint,
        "scores": [{"name": "perplexity", "value": measured.perplexity, "signature": rule}],
    }
    return Evaluation(name, metrics)


def window_of_pipeline(generator: Generator) -> int:
    """Return the context window that a language model is scored with: the one it was trained with."""
    facts = LanguageFacts.read(generator.bundle)
    return int(facts.window or generator.model.max_positions or DEFAULT_WINDOW)

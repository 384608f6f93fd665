"""Evaluation of a language model: negative log-likelihood per token, byte and word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.feeds.windows import Stream, WindowBatch, sliding_windows, windows_at
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic, exponential, ratio
from regard.metrics.comparison import Score
from regard.nn.inference.memory import retry_smaller
from regard.objectives.language_model import LanguageObjective
from regard.tasks.data import EvalSet, SampleLoss, spread
from regard.tasks.evaluation import Evaluation
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import scoring_machine, text_hashes, validation_corpus
from regard.tasks.text.nll import TextUnits, label_losses, tokenizer_hash, unit_columns, unit_lines, values_of
from regard.training.device.machine import Machine
from regard.training.parallel.division import map_arrays

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
    objective = LanguageObjective()

    def of_batch(batch: WindowBatch) -> NDArray[np.float64]:
        with machine.autocast():
            part = objective(model, batch.to(machine.device))["nll"]
        return np.array([float(part.sum), part.count])

    sums = sum(map_arrays(sliding_windows(stream, end, window, stride, limit), of_batch), np.zeros(2))
    return TextLoss(float(sums[0]), int(sums[1]))


@torch.inference_mode()
def _token_losses(
    model: Any, stream: Stream, end: int, window: int, stride: int, machine: Machine, limit: int
) -> NDArray[np.float64]:
    """Return the negative log-likelihood of each token of a stream."""

    def of_batch(batch: WindowBatch) -> NDArray[np.float64]:
        moved = batch.to(machine.device)
        labels = moved.labels.flatten()
        hidden = model.hidden_states(moved.tokens).flatten(0, 1)[labels >= 0]
        return label_losses(hidden, model.head.weight, model.head.bias, labels[labels >= 0]).nll

    return np.concatenate(map_arrays(sliding_windows(stream, end, window, stride, limit), of_batch))


def evaluate_text(generator: Generator, chosen: EvalSet, stride: int | None = None) -> Evaluation:
    """Return the metrics of a model on a text; the default stride gives each token half a window of context at least.

    EOS after each document is predicted too and counts as a token. The perplexity of a word does not depend on the
    tokenizer, so models with other tokenizers can be compared by it.
    """
    name, corpus, machine = chosen.name, chosen.rows, scoring_machine(generator.device)
    if len(corpus) < 1:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    window, default = window_of_pipeline(generator), max(1, window_of_pipeline(generator) // 2)
    stride = default if stride is None else stride
    losses = retry_smaller(
        lambda limit: _token_losses(
            generator.model, corpus, generator.tokenizer.eos_id, window, stride, machine, limit
        ),
        machine.micro_batch_tokens,
        window,
        machine.device,
    )
    units, counts = TextUnits.of(corpus), corpus.counts
    outputs = unit_lines(units.sums(losses), units.sums(np.ones(len(losses))))
    statistics = text_statistics(units, outputs)
    values = values_of(statistics, len(outputs))
    rule = f"window {window}, stride {stride}"
    signatures = {
        "perplexity": f"{rule}, tokenizer {tokenizer_hash(generator.tokenizer)}",
        "word_perplexity": units.name,
        "bits_per_byte": units.name,
    }
    return Evaluation(
        name,
        {"tokens": len(losses), "bytes": counts.bytes, "words": counts.words, **values},
        tuple(Score(key.replace("_", " "), values[key], each, key) for key, each in signatures.items()),
        outputs,
        statistics,
        hashes=text_hashes(chosen),
        decode={"window": window, "stride": stride},
        decode_defaults={"window": window, "stride": default},
    )


def text_statistics(units: TextUnits, lines: Sequence[str]) -> dict[str, Statistic]:
    """Return loss, perplexities and bits per byte as functions of how often each unit of a text counts."""
    nll, tokens = unit_columns(lines, 2, "negative log-likelihoods and numbers of tokens")
    if len(nll) != len(units.begins):
        raise DataError(
            f"{len(nll):,} lines, but the text has {len(units.begins):,} {units.name}; evaluate it again."
        )
    loss, word_loss = ratio(nll, tokens), ratio(nll, units.words)
    return {
        "loss": loss,
        "perplexity": exponential(loss),
        "word_perplexity": exponential(word_loss),
        "bits_per_byte": ratio(nll, units.bytes, 1 / math.log(2)),
    }


def sample_windows(generator: Generator, record: RunRecord, examples: int) -> SampleLoss:
    """Return the loss on so many windows of a run's validation text, spread over it."""
    corpus, window = validation_corpus(record, generator.tokenizer), window_of_pipeline(generator)
    begins = [each * window for each in spread(-(-len(corpus) // window), examples)]
    sample = windows_at(corpus, generator.tokenizer.eos_id, window, begins).to(generator.device)
    objective = LanguageObjective()

    @torch.inference_mode()
    def loss() -> float:
        part = objective(generator.model, sample)["nll"]
        return float(part.sum) / part.count

    return SampleLoss(loss, len(begins))


def window_of_pipeline(generator: Generator) -> int:
    """Return the context window that a language model is scored with: the one it was trained with."""
    facts = LanguageFacts.read(generator.bundle)
    return int(facts.window or generator.model.max_positions or DEFAULT_WINDOW)

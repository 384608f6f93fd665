"""Evaluation of an ELMo: negative log-likelihood of words in both directions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.feeds.char_words import CharWordBatch, WordLookup, fixed_words
from regard.errors import DataError
from regard.metrics.bootstrap import Numbers, Statistic, exponential, ratio
from regard.metrics.comparison import Score
from regard.models.elmo.model import ElmoSettings
from regard.nn.inference.memory import retry_smaller
from regard.objectives.bidirectional_lm import BidirectionalObjective, direction_labels
from regard.tasks.data import EvalSet
from regard.tasks.elmo.pipeline import ElmoEncoder
from regard.tasks.elmo.records import ElmoFacts
from regard.tasks.evaluation import Evaluation
from regard.tasks.text.corpora import scoring_machine, text_hashes
from regard.tasks.text.nll import label_losses, tokenizer_hash, unit_columns, unit_lines, values_of
from regard.training.device.machine import Machine
from regard.training.parallel.division import map_arrays


@dataclass(frozen=True)
class CharText:
    """A text as bytes, with the ids of its words and the length of its windows."""

    corpus: Corpus
    book: WordLookup
    length: int
    """Window in ids, that is bytes."""
    bytes_per_word: float

    @classmethod
    def of(cls, corpus: Corpus, bundle: Bundle) -> "CharText":
        """Return a text cut into windows for a model."""
        settings, facts = bundle.settings, ElmoFacts.read(bundle)
        assert isinstance(settings, ElmoSettings)
        length = max(8, round(facts.window * facts.bytes_per_word))
        book = WordLookup(bundle.tokenizers["words"], settings.longest_word - 1)
        return cls(corpus, book, length, facts.bytes_per_word)


@dataclass
class BidirectionalLosses:
    """Sums over words that have a neighbor."""

    forward: float = 0.0
    backward: float = 0.0
    count: int = 0

    def named(self) -> dict[str, float]:
        """Return means by name; the loss, the mean of both directions, is what is minimized."""
        forward, backward = (each / max(1, self.count) for each in (self.forward, self.backward))
        return {
            "loss": (forward + backward) / 2,
            "forward_loss": forward,
            "backward_loss": backward,
            "forward_perplexity": math.exp(min(forward, 700.0)),
            "backward_perplexity": math.exp(min(backward, 700.0)),
        }


def bidirectional_losses(
    model: Any, text: CharText, machine: Machine, words: int | None = None
) -> BidirectionalLosses:
    """Return the losses of (about the first so many words of) a text; where memory runs out, in smaller batches."""
    count = None if words is None else max(text.length, round(words * text.bytes_per_word))
    limit = round(machine.micro_batch_tokens * text.bytes_per_word)
    attempt = lambda limit: _bidirectional_losses(model, text, machine, limit, count)
    return retry_smaller(attempt, limit, text.length, machine.device)


@torch.inference_mode()
def _bidirectional_losses(
    model: Any, text: CharText, machine: Machine, limit: int, count: int | None
) -> BidirectionalLosses:
    objective, totals = BidirectionalObjective(), BidirectionalLosses()

    def of_batch(batch: CharWordBatch) -> Numbers:
        with machine.autocast():
            loss = objective(model, batch.to(machine.device))
        return np.array([float(loss["forward"].sum), float(loss["backward"].sum), batch.label_count])

    batches = fixed_words(text.corpus, text.book, text.length, limit, count)
    for forward, backward, labels in map_arrays(batches, of_batch):
        totals.forward += float(forward)
        totals.backward += float(backward)
        totals.count += int(labels)
    return totals


@torch.inference_mode()
def _window_sums(model: Any, text: CharText, machine: Machine, limit: int) -> tuple[Numbers, int, int]:
    """Return the sums of both losses and the number of labels of each window (W, 3), and words and unknown ones."""

    def of_batch(batch: CharWordBatch) -> Numbers:
        moved = batch.to(machine.device)
        labeled = direction_labels(model, moved)
        rows = (moved.words[:, 1:] >= 0).nonzero()[:, 0].cpu().numpy()
        parts = [
            label_losses(hidden, model.head.weight, model.head.bias, labels).nll
            for hidden, labels in labeled.values()
        ]
        each = [np.bincount(rows, values, moved.words.size(0)) for values in (*parts, np.ones(len(rows)))]
        words, unknown = (batch.words >= 0).sum(), (batch.words == text.book.unknown).sum()
        return np.concatenate([[float(words), float(unknown)], np.stack(each, 1).ravel()])

    arrays = map_arrays(fixed_words(text.corpus, text.book, text.length, limit), of_batch)
    words, unknown = (int(sum(each[column] for each in arrays)) for column in (0, 1))
    return np.concatenate([np.zeros((0, 3)), *(each[2:].reshape(-1, 3) for each in arrays)]), words, unknown


def evaluate_elmo(encoder: ElmoEncoder, chosen: EvalSet) -> Evaluation:
    """Return the metrics of a model on a whole text; ends of documents are words too."""
    name, bundle, machine = chosen.name, encoder.bundle, scoring_machine(encoder.device)
    facts, text = ElmoFacts.read(bundle), CharText.of(chosen.rows, bundle)
    attempt = lambda limit: _window_sums(bundle.model, text, machine, limit)
    limit = round(machine.micro_batch_tokens * text.bytes_per_word)
    sums, words, unknown = retry_smaller(attempt, limit, text.length, machine.device)
    if not sums[:, 2].sum():
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    outputs = unit_lines(*sums.T)
    statistics = elmo_statistics(outputs)
    values = values_of(statistics, len(outputs))
    rule = (
        f"mean of both directions, {facts.words:,} words ({tokenizer_hash(bundle.tokenizers['words'])}), windows of "
        f"{facts.window}"
    )
    main = {"perplexity": "perplexity", "forward_loss": "forward loss", "backward_loss": "backward loss"}
    return Evaluation(
        name,
        {"words": words, "oov_fraction": unknown / words, "window": facts.window, "vocabulary": facts.words} | values,
        tuple(Score(label, values[key], rule, key) for key, label in main.items()),
        outputs,
        statistics,
        hashes=text_hashes(chosen),
    )


def elmo_statistics(lines: Sequence[str]) -> dict[str, Statistic]:
    """Return losses and perplexities of both directions as functions of how often each window counts."""
    forward, backward, count = unit_columns(lines, 3, "negative log-likelihoods of both directions")
    losses = {"forward_loss": ratio(forward, count), "backward_loss": ratio(backward, count)}
    loss = ratio((forward + backward) / 2, count)
    return losses | {
        "loss": loss,
        "perplexity": exponential(loss),
        "forward_perplexity": exponential(losses["forward_loss"]),
        "backward_perplexity": exponential(losses["backward_loss"]),
    }

"""Evaluation of an ELMo: negative log-likelihood of words in both directions."""

import math
from dataclasses import dataclass
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.feeds.char_words import WordLookup, fixed_words
from regard.errors import DataError
from regard.models.elmo.model import ElmoSettings
from regard.nn.inference.memory import retry_smaller
from regard.objectives.bidirectional_lm import BidirectionalObjective
from regard.tasks.data import EvalSet
from regard.tasks.elmo.records import ElmoFacts
from regard.tasks.evaluation import Evaluation
from regard.training.device.machine import Machine


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
    words: int = 0
    unknown: int = 0

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
    for batch in fixed_words(text.corpus, text.book, text.length, limit, count):
        with machine.autocast():
            loss = objective(model, batch.to(machine.device))
        totals.forward += float(loss["forward"].sum)
        totals.backward += float(loss["backward"].sum)
        totals.count += batch.label_count
        totals.words += int((batch.words >= 0).sum())
        totals.unknown += int((batch.words == text.book.unknown).sum())
    return totals


def evaluate_elmo(model: Any, chosen: EvalSet, facts: ElmoFacts, machine: Machine) -> Evaluation:
    """Return the metrics of a model on a whole text; ends of documents are words too."""
    name, text = chosen.name, chosen.rows
    totals = bidirectional_losses(model, text, machine)
    if not totals.count:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    means = totals.named()
    rule = f"mean of both directions, {facts.words:,} words, windows of {facts.window}"
    metrics = {
        "words": totals.words,
        "oov_fraction": totals.unknown / totals.words,
        "window": facts.window,
        "vocabulary": facts.words,
        "test_set": text.corpus.fingerprint,
        **means,
        "scores": [{"name": "perplexity", "value": math.exp(min(means["loss"], 700.0)), "signature": rule}],
    }
    return Evaluation(name, metrics)

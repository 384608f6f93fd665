"""Evaluation of a masked language model: masked tokens and next sentences."""

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.data.corpus.corpus import Corpus
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MlmBatch, fixed_batches
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.errors import DataError
from regard.nn.inference.memory import retry_smaller
from regard.objectives.masked_lm import follows, hidden_states_varlen
from regard.pipelines.encoder import Encoder
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import Evaluation
from regard.tasks.masked_lm.records import MaskedFacts
from regard.training.device.machine import Machine

LOGITS = 2**24
"""Logits that are in memory at once."""


@dataclass(frozen=True)
class MaskedText:
    """A text with the sampler of its sequences and their masker."""

    pairs: SentencePairSampler
    masker: Masker


@dataclass
class MaskedLmMetrics:
    """Sums over masked tokens and pairs."""

    sequences: int = 0
    tokens: int = 0
    masked: int = 0
    nll: float = 0.0
    hits: int = 0
    pairs: int = 0
    pair_nll: float = 0.0
    pair_hits: int = 0
    labels: Counter[int] = field(default_factory=Counter)
    """Count of each token among the masked ones."""

    def named(self, weight: float = 1.0) -> dict[str, float]:
        """Return means by name; the loss is what is minimized."""
        mlm_loss = self.nll / max(1, self.masked)
        means = {
            "loss": mlm_loss,
            "mlm_loss": mlm_loss,
            "pseudo_perplexity": math.exp(min(mlm_loss, 700.0)),
            "masked_accuracy": self.hits / max(1, self.masked),
        }
        if self.pairs:
            pair_loss = self.pair_nll / self.pairs
            means |= {"next_sentence_loss": pair_loss, "next_sentence_accuracy": self.pair_hits / self.pairs}
            means["loss"] += weight * pair_loss
        return means


def masked_metrics(model: Any, text: MaskedText, machine: Machine, count: int | None = None) -> MaskedLmMetrics:
    """Return the totals over (the first `count` tokens of) a text; where memory runs out, in smaller batches."""
    return retry_smaller(
        lambda limit: _masked_metrics(model, text, machine, limit, count),
        machine.micro_batch_tokens,
        text.pairs.length,
        machine.device,
    )


@torch.inference_mode()
def _masked_metrics(model: Any, text: MaskedText, machine: Machine, limit: int, count: int | None) -> MaskedLmMetrics:
    totals = MaskedLmMetrics()
    for batch in fixed_batches(text.pairs, text.masker, limit, count):
        with machine.autocast():
            _add(totals, model, batch.to(machine.device))
        totals.labels.update(batch.labels.tolist())
    return totals


def _add(totals: MaskedLmMetrics, model: Any, batch: MlmBatch) -> None:
    hidden = hidden_states_varlen(model, batch)
    totals.sequences += batch.is_next.numel()
    totals.tokens += batch.tokens.numel()
    for positions, labels in zip(
        *(_chunks(each, model) for each in (batch.label_positions, batch.labels)), strict=True
    ):
        logits = model.project(hidden.index_select(0, positions)).float()  # (n, V)
        totals.nll += float(F.cross_entropy(logits, labels, reduction="sum"))
        totals.hits += int((logits.argmax(1) == labels).sum())
    totals.masked += batch.label_count
    if model.next_sentence is not None and batch.pair_count:
        scores = follows(model, hidden, batch.cu_seqlens)
        totals.pair_nll += float(F.cross_entropy(scores, batch.is_next, ignore_index=NO_LABEL, reduction="sum"))
        totals.pair_hits += int((scores.argmax(1) == batch.is_next).sum())
        totals.pairs += batch.pair_count


def _chunks(positions: Tensor, model: Any) -> tuple[Tensor, ...]:
    return positions.split(max(1, LOGITS // model.head.weight.size(0)))


def evaluate_masked(model: Any, chosen: EvalSet, machine: Machine) -> Evaluation:
    """Return the metrics of a model on a whole text; its masks and pairs are the same for every model.

    The loss is the sum of both losses, the majority baseline the accuracy of always predicting the most frequent of
    the masked tokens.
    """
    name, text = chosen.name, chosen.rows
    totals = masked_metrics(model, text, machine)
    if not totals.masked:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    masking, pairs = text.masker.settings, text.pairs
    unit = "whole words" if masking.whole_word_masking else "tokens"
    rule = (
        f"{masking.mask_fraction:.0%} of {unit}, {masking.masked:.0%} masked, {masking.random:.0%} random, "
        f"{'pairs' if pairs.has_pairs else 'sentences'} of up to {pairs.length} tokens"
    )
    means = totals.named()
    metrics = {
        "sequences": totals.sequences,
        "tokens": totals.tokens,
        "masked": totals.masked,
        "majority_baseline": max(totals.labels.values()) / totals.masked,
        "pairs": totals.pairs,
        "length": pairs.length,
        "test_set": pairs.corpus.fingerprint,
        "rule": rule,
        "next_sentence_loss": None,
        "next_sentence_accuracy": None,
        **means,
        "scores": [{"name": "pseudo-perplexity", "value": means["pseudo_perplexity"], "signature": rule}],
    }
    return Evaluation(name, metrics)


def masked_text(corpus: Corpus, encoder: Encoder) -> MaskedText:
    """Return a text cut into sequences and masked for a model."""
    tokenizer, facts = encoder.tokenizer, MaskedFacts.read(encoder.bundle)
    has_pairs = encoder.model.next_sentence is not None
    is_one_document = not facts.pack_documents
    pairs = SentencePairSampler(
        corpus, Marks.of(tokenizer), encoder.max_length, has_pairs, is_one_document=is_one_document
    )
    return MaskedText(pairs, Masker(facts.masking, tokenizer))

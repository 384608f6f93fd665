"""Evaluation of a masked language model: masked tokens and next sentences."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.corpus.corpus import Corpus
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MlmBatch, fixed_batches
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.text import MaskedTextData
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic, exponential, ratio
from regard.metrics.comparison import Score
from regard.nn.inference.memory import retry_smaller
from regard.objectives.masked_lm import follows, hidden_states_varlen
from regard.pipelines.encoder import Encoder
from regard.tasks.data import EvalSet, SampleLoss, spread
from regard.tasks.evaluation import Evaluation
from regard.tasks.masked_lm.records import MaskedFacts
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import scoring_machine, text_hashes, validation_corpus
from regard.tasks.text.nll import tokenizer_hash, unit_columns, unit_lines
from regard.training.device.machine import Machine
from regard.training.parallel.division import map_arrays

LOGITS = 2**24
"""Logits that are in memory at once."""
SUMMED = ("sequences", "tokens", "masked", "nll", "hits", "pairs", "pair_nll", "pair_hits")
"""Metrics that are sums over batches."""


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
    sums: list[NDArray[np.float64]] | None = None
    """Sums of each sequence (R, 6), where they are kept: of nll, masked tokens, hits; of pairs' nll, pairs, hits."""

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


def masked_metrics(
    model: Any, text: MaskedText, machine: Machine, count: int | None = None, keeps_sums: bool = False
) -> MaskedLmMetrics:
    """Return the totals over (the first `count` tokens of) a text; where memory runs out, in smaller batches."""
    return retry_smaller(
        lambda limit: _masked_metrics(model, text, machine, limit, count, keeps_sums),
        machine.micro_batch_tokens,
        text.pairs.length,
        machine.device,
    )


@torch.inference_mode()
def _masked_metrics(
    model: Any, text: MaskedText, machine: Machine, limit: int, count: int | None, keeps_sums: bool
) -> MaskedLmMetrics:
    totals = MaskedLmMetrics(sums=[] if keeps_sums else None)

    def counted() -> Iterator[MlmBatch]:
        for batch in fixed_batches(text.pairs, text.masker, limit, count):
            totals.labels.update(batch.labels.tolist())
            yield batch

    def of_batch(batch: MlmBatch) -> NDArray[np.float64]:
        metrics = MaskedLmMetrics(sums=[] if keeps_sums else None)
        with machine.autocast():
            _add(metrics, model, batch.to(machine.device))
        sums = np.concatenate([each.ravel() for each in metrics.sums or [np.zeros(0)]])
        return np.concatenate([[getattr(metrics, name) for name in SUMMED], sums])

    for numbers in map_arrays(counted(), of_batch):
        for name, value in zip(SUMMED, numbers.tolist(), strict=False):
            setattr(totals, name, getattr(totals, name) + type(getattr(totals, name))(value))
        if totals.sums is not None:
            totals.sums.append(numbers[len(SUMMED) :].reshape(-1, 6))
    return totals


def _add(totals: MaskedLmMetrics, model: Any, batch: MlmBatch) -> None:
    hidden = hidden_states_varlen(model, batch)
    sums = np.zeros((batch.is_next.numel(), 6))
    totals.sequences += batch.is_next.numel()
    totals.tokens += batch.tokens.numel()
    rows = torch.searchsorted(batch.cu_seqlens.long(), batch.label_positions, right=True) - 1
    for positions, labels, row in zip(
        *(_chunks(each, model) for each in (batch.label_positions, batch.labels, rows)), strict=True
    ):
        logits = model.project(hidden.index_select(0, positions)).float()  # (n, V)
        hits = logits.argmax(1) == labels
        totals.nll += float(F.cross_entropy(logits, labels, reduction="sum"))
        totals.hits += int(hits.sum())
        if totals.sums is not None:
            nll = F.cross_entropy(logits, labels, reduction="none")
            each = torch.stack([nll.double(), torch.ones_like(nll).double(), hits.double()], 1).cpu().numpy()
            np.add.at(sums[:, :3], row.cpu().numpy(), each)
    totals.masked += batch.label_count
    if model.next_sentence is not None and batch.pair_count:
        scores, is_pair = follows(model, hidden, batch.cu_seqlens), batch.is_next != NO_LABEL
        hits = (scores.argmax(1) == batch.is_next) & is_pair
        nll = F.cross_entropy(scores.float(), batch.is_next, ignore_index=NO_LABEL, reduction="none")
        totals.pair_nll += float(F.cross_entropy(scores, batch.is_next, ignore_index=NO_LABEL, reduction="sum"))
        totals.pair_hits += int((scores.argmax(1) == batch.is_next).sum())
        totals.pairs += batch.pair_count
        sums[:, 3:] = torch.stack([nll.double(), is_pair.double(), hits.double()], 1).cpu().numpy()
    if totals.sums is not None:
        totals.sums.append(sums)


def _chunks(positions: Tensor, model: Any) -> tuple[Tensor, ...]:
    return positions.split(max(1, LOGITS // model.head.weight.size(0)))


def evaluate_masked(encoder: Encoder, chosen: EvalSet) -> Evaluation:
    """Return the metrics of a model on a whole text; its masks and pairs are the same for every model.

    The loss is the sum of both losses, the majority baseline the accuracy of always predicting the most frequent of
    the masked tokens.
    """
    name, text, machine = chosen.name, masked_text(chosen.rows, encoder), scoring_machine(encoder.device)
    totals = masked_metrics(encoder.model, text, machine, keeps_sums=True)
    if not totals.masked:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    masking, pairs = text.masker.settings, text.pairs
    unit = "whole words" if masking.whole_word_masking else "tokens"
    rule = (
        f"{masking.mask_fraction:.0%} of {unit}, {masking.masked:.0%} masked, {masking.random:.0%} random, "
        f"{'pairs' if pairs.has_pairs else 'sentences'} of up to {pairs.length} tokens"
    )
    outputs = unit_lines(*np.concatenate(totals.sums or []).T)
    statistics = masked_statistics(outputs)
    counts = {key: getattr(totals, key) for key in ("sequences", "tokens", "masked", "pairs")}
    values = {"next_sentence_loss": None, "next_sentence_accuracy": None} | totals.named()
    values["majority_baseline"] = max(totals.labels.values()) / totals.masked
    main = {"pseudo_perplexity": "pseudo-perplexity", "masked_accuracy": "masked accuracy"}
    main |= {"next_sentence_accuracy": "next-sentence accuracy"} if totals.pairs else {}
    signature = f"{rule}, tokenizer {tokenizer_hash(encoder.tokenizer)}"
    return Evaluation(
        name,
        counts | values,
        tuple(Score(label, float(values[key] or 0.0), signature, key) for key, label in main.items()),
        outputs,
        {key: each for key, each in statistics.items() if values.get(key) is not None},
        hashes=text_hashes(chosen),
        details={"rule": rule},
    )


def sample_sequences(encoder: Encoder, record: RunRecord, examples: int) -> SampleLoss:
    """Return the loss of masked tokens, with the same masks each time, in windows spread over a validation text."""
    corpus = validation_corpus(record, encoder.tokenizer, schema=MaskedTextData)
    text, machine = masked_text(corpus, encoder), scoring_machine(encoder.device)
    windows = np.array(spread(-(-len(corpus) // text.pairs.window), examples))
    batches = [
        each.to(machine.device)
        for each in fixed_batches(text.pairs, text.masker, machine.micro_batch_tokens, windows=windows)
    ]

    @torch.inference_mode()
    def loss() -> float:
        totals = MaskedLmMetrics()
        for batch in batches:
            _add(totals, encoder.model, batch)
        return totals.named()["mlm_loss"]

    return SampleLoss(loss, len(windows))


def masked_statistics(lines: Sequence[str]) -> dict[str, Statistic]:
    """Return losses and accuracies as functions of how often each sequence counts."""
    nll, masked, hits, pair_nll, pairs, pair_hits = unit_columns(lines, 6, "sums over masked tokens and pairs")
    loss = ratio(nll, masked)
    return {
        "mlm_loss": loss,
        "pseudo_perplexity": exponential(loss),
        "masked_accuracy": ratio(hits, masked),
        "next_sentence_loss": ratio(pair_nll, pairs),
        "next_sentence_accuracy": ratio(pair_hits, pairs),
    }


def masked_text(corpus: Corpus, encoder: Encoder) -> MaskedText:
    """Return a text cut into sequences and masked for a model."""
    tokenizer, facts = encoder.tokenizer, MaskedFacts.read(encoder.bundle)
    has_pairs = encoder.model.next_sentence is not None
    is_one_document = not facts.pack_documents
    pairs = SentencePairSampler(
        corpus, Marks.of(tokenizer), encoder.max_length, has_pairs, is_one_document=is_one_document
    )
    return MaskedText(pairs, Masker(facts.masking, tokenizer))

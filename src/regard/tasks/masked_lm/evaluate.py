"""How well a model guesses masked words, and tells what follows what."""

import math
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.shards import tokenize
from regard.data.corpus.splits import tokenize_all
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MlmBatch, fixed_batches
from regard.data.feeds.masking import Masker, MaskingSettings
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.text import MarkedSource, MarkedTextData
from regard.errors import DataError, RunError
from regard.nn.inference.memory import retry_smaller
from regard.objectives.masked_lm import follows, hidden_states_varlen
from regard.pipelines.encoder import Encoder
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.load import load
from regard.training.device.machine import Machine, prepare_machine
from regard.training.settings import MachineSettings

LOGITS = 2**24
"""Scores that are held at once."""


@dataclass(frozen=True)
class MaskedText:
    """A text with what makes sequences of it and masks them."""

    pairs: SentencePairSampler
    masker: Masker


@dataclass
class MaskedLmMetrics:
    """Sums over masked tokens and pairs."""

    sequences: int = 0
    tokens: int = 0
    masked: int = 0
    surprise: float = 0.0
    hits: int = 0
    pairs: int = 0
    pair_surprise: float = 0.0
    pair_hits: int = 0
    labels: Counter[int] = field(default_factory=Counter)
    """How often each token was to be guessed."""

    def named(self, weight: float = 1.0) -> dict[str, float]:
        """Return means by name; the loss is what is minimised."""
        mlm_loss = self.surprise / max(1, self.masked)
        found = {
            "loss": mlm_loss,
            "mlm_loss": mlm_loss,
            "pseudo_perplexity": math.exp(min(mlm_loss, 700.0)),
            "masked_accuracy": self.hits / max(1, self.masked),
        }
        if self.pairs:
            pair_loss = self.pair_surprise / self.pairs
            found |= {"next_sentence_loss": pair_loss, "next_sentence_accuracy": self.pair_hits / self.pairs}
            found["loss"] += weight * pair_loss
        return found


@dataclass(frozen=True)
class MaskedEvaluation:
    """The figures of one model on one text, its pairs and masks the same for every model with the same tokenizer."""

    name: str
    sequences: int
    tokens: int
    masked: int
    """Tokens that were to be guessed."""
    loss: float
    """The sum of both losses."""
    mlm_loss: float
    pseudo_perplexity: float
    """The exponential of the mean surprise of masked tokens."""
    masked_accuracy: float
    majority_baseline: float
    """Share of the most frequent of the tokens to be guessed: the accuracy of who always says that one."""
    pairs: int
    length: int
    test_set: str
    """A hash of the text as the model reads it."""
    rule: str
    """How tokens were masked."""
    next_sentence_loss: float | None = None
    next_sentence_accuracy: float | None = None

    def figures(self) -> dict[str, Any]:
        """Return everything as plain values, with the figure a run is known by in its usual place."""
        score = {"name": "pseudo-perplexity", "value": self.pseudo_perplexity, "signature": self.rule}
        return asdict(self) | {"scores": [score]}


def masked_figures(model: Any, text: MaskedText, machine: Machine, count: int | None = None) -> MaskedLmMetrics:
    """Return the figures of (the first `count` tokens of) a text; with less memory, less is looked at together."""
    return retry_smaller(
        lambda limit: _masked_figures(model, text, machine, limit, count),
        machine.micro_batch_tokens,
        text.pairs.length,
        machine.device,
    )


@torch.inference_mode()
def _masked_figures(model: Any, text: MaskedText, machine: Machine, limit: int, count: int | None) -> MaskedLmMetrics:
    found = MaskedLmMetrics()
    for batch in fixed_batches(text.pairs, text.masker, limit, count):
        with machine.autocast():
            _add(found, model, batch.to(machine.device))
        found.labels.update(batch.labels.tolist())
    return found


def _add(found: MaskedLmMetrics, model: Any, batch: MlmBatch) -> None:
    hidden = hidden_states_varlen(model, batch)
    found.sequences += batch.is_next.numel()
    found.tokens += batch.tokens.numel()
    for places, labels in zip(*(_chunks(each, model) for each in (batch.label_positions, batch.labels)), strict=True):
        logits = model.project(hidden.index_select(0, places)).float()  # (n, V)
        found.surprise += float(F.cross_entropy(logits, labels, reduction="sum"))
        found.hits += int((logits.argmax(1) == labels).sum())
    found.masked += batch.label_count
    if model.next_sentence is not None and batch.pair_count:
        scores = follows(model, hidden, batch.cu_seqlens)
        found.pair_surprise += float(F.cross_entropy(scores, batch.is_next, ignore_index=NO_LABEL, reduction="sum"))
        found.pair_hits += int((scores.argmax(1) == batch.is_next).sum())
        found.pairs += batch.pair_count


def _chunks(places: Tensor, model: Any) -> tuple[Tensor, ...]:
    return places.split(max(1, LOGITS // model.head.weight.size(0)))


def evaluate_masked(model: Any, text: MaskedText, name: str, machine: Machine) -> MaskedEvaluation:
    """Return the figures of a model on a whole text."""
    found = masked_figures(model, text, machine)
    if not found.masked:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    masking, pairs = text.masker.settings, text.pairs
    words = "whole words" if masking.whole_word_masking else "tokens"
    rule = f"{masking.mask_fraction:.0%} of {words}, {masking.masked:.0%} masked, {masking.random:.0%} random"
    return MaskedEvaluation(
        name=name,
        sequences=found.sequences,
        tokens=found.tokens,
        masked=found.masked,
        majority_baseline=max(found.labels.values()) / found.masked,
        pairs=found.pairs,
        length=pairs.length,
        test_set=pairs.corpus.fingerprint,
        rule=f"{rule}, {'pairs' if pairs.has_pairs else 'sentences'} of up to {pairs.length} tokens",
        **found.named(),
    )


def score_masked(run: Run, pipeline: Any, prepared: Prepared, progress: Progress = SILENT) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, and return the figures by set."""
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    return {
        name: evaluate_masked(pipeline.model, text, name, machine).figures() for name, text in prepared.tests.items()
    }


def measure_masked(
    path: str | Path, place: MarkedSource | None = None, *, device: str = "auto", progress: Progress = SILENT
) -> dict[str, MaskedEvaluation]:
    """Evaluate a masked language model's run or checkpoint on other text, or on the run's own test sets, by name."""
    pipeline: Any = load(path, device)
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        sets = _texts(Path(path), place, pipeline.bundle, Path(folder), progress)
        return {
            name: evaluate_masked(pipeline.model, masked_text(corpus, pipeline), name, machine)
            for name, corpus in sets.items()
        }


def masked_text(corpus: Corpus, pipeline: Encoder) -> MaskedText:
    """Return a text as a model is to read it."""
    tokenizer, facts = pipeline.tokenizer, pipeline.bundle.facts
    has_pairs, is_apart = pipeline.model.next_sentence is not None, not facts.get("pack_documents", True)
    pairs = SentencePairSampler(corpus, Marks.of(tokenizer), pipeline.max_length, has_pairs, is_apart=is_apart)
    return MaskedText(pairs, Masker(MaskingSettings(**facts.get("masking", {})), tokenizer))


def _texts(
    path: Path, place: MarkedSource | None, bundle: Bundle, folder: Path, progress: Progress
) -> dict[str, Corpus]:
    """Return the text at a place, or a run's own test sets (without any: what is watched)."""
    tokenizer = bundle.tokenizers["tokenizer"]
    if place is not None:
        sentences = bundle.facts.get("sentences", "marks")
        return {place.name: tokenize(place, tokenizer, folder, progress, sentences=sentences)}
    run = Run(path)
    if not run.exists:
        raise RunError(f"{path}: a checkpoint alone has no test sets; give --text FILE.")
    data = run.data_settings(MarkedTextData)
    corpora = tokenize_all(data, tokenizer, Path(run.data["folder"]), progress)
    return corpora.test or {"valid": corpora.valid}

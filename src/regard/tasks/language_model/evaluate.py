"""How well a language model knows a text: its surprise by token, byte and word."""

import math
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from regard.data.corpus.corpus import Corpus
from regard.data.corpus.shards import tokenize
from regard.data.corpus.splits import tokenize_all
from regard.data.feeds.windows import Stream, sliding_windows
from regard.data.settings.text import TextData, TextSource
from regard.errors import DataError, RunError
from regard.nn.inference.memory import retry_smaller
from regard.objectives.language_model import LanguageObjective
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.load import load
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine, prepare_machine
from regard.training.settings import MachineSettings

USUAL_WINDOW = 256
"""Tokens read at once by a model that has no bound."""


@dataclass(frozen=True)
class TextLoss:
    """The surprise of a text, in nats."""

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


@dataclass(frozen=True)
class TextEvaluation:
    """The figures of one model on one text; end tokens of documents are said too, and count as tokens."""

    name: str
    tokens: int
    bytes: int
    words: int
    loss: float
    perplexity: float
    bits_per_byte: float
    word_perplexity: float
    """The perplexity of a word, whatever tokens it is made of: figures of other tokenizers can be set beside it."""
    window: int
    stride: int
    test_set: str
    """A hash of the text as the model reads it."""

    def figures(self) -> dict[str, Any]:
        """Return everything as plain values, with the figure a run is known by in its usual place."""
        rule = f"window {self.window}, stride {self.stride}"
        return asdict(self) | {"scores": [{"name": "perplexity", "value": self.perplexity, "signature": rule}]}


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
    """Return the surprise of (the first `count` tokens of) a stream, read in windows as they are trained on.

    Where memory runs out, fewer windows are looked at together.
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
    model: Any, corpus: Corpus, name: str, end: int, window: int, machine: Machine, stride: int | None = None
) -> TextEvaluation:
    """Return the figures of a model on a text; each token has half a window before it at least, unless told."""
    if len(corpus) < 1:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    stride = max(1, window // 2) if stride is None else stride
    found, counts = text_loss(model, corpus, end, window, stride, machine), corpus.counts
    return TextEvaluation(
        name,
        found.tokens,
        counts.bytes,
        counts.words,
        found.loss,
        found.perplexity,
        found.total / math.log(2) / max(1, counts.bytes),
        math.exp(min(found.total / max(1, counts.words), 700.0)),
        window,
        stride,
        corpus.fingerprint,
    )


def score_texts(run: Run, pipeline: Any, prepared: Prepared, progress: Progress = SILENT) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, and return the figures by set."""
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    end, window = pipeline.tokenizer.eos_id, int(prepared.facts["window"])
    return {
        name: evaluate_text(pipeline.model, corpus, name, end, window, machine).figures()
        for name, corpus in prepared.tests.items()
    }


def measure_text(
    path: str | Path,
    place: TextSource | None = None,
    *,
    stride: int | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
) -> dict[str, TextEvaluation]:
    """Evaluate a language model's run or checkpoint on other text, or on the run's own test sets, by name."""
    pipeline: Any = load(path, device)
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    window = int(pipeline.bundle.facts.get("window") or pipeline.model.max_positions or USUAL_WINDOW)
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        sets = _texts(Path(path), place, pipeline.tokenizer, Path(folder), progress)
        end = pipeline.tokenizer.eos_id
        return {
            name: evaluate_text(pipeline.model, corpus, name, end, window, machine, stride)
            for name, corpus in sets.items()
        }


def _texts(
    path: Path, place: TextSource | None, tokenizer: Tokenizer, folder: Path, progress: Progress
) -> dict[str, Corpus]:
    """Return the text at a place, or a run's own test sets (without any: what is watched)."""
    if place is not None:
        return {place.name: tokenize(place, tokenizer, folder, progress)}
    run = Run(path)
    if not run.exists:
        raise RunError(f"{path}: a checkpoint alone has no test sets; give --text FILE.")
    data, kept = _data_of(run)
    if data.test:
        return {name: tokenize(each, tokenizer, kept / f"test-{name}", progress) for name, each in data.test.items()}
    return {"valid": tokenize_all(data, tokenizer, kept, progress).valid}


def validation_text(run: Run, tokenizer: Tokenizer, progress: Progress = SILENT) -> Corpus:
    """Return what a run watches, if its text is still where it was tokenized."""
    data, kept = _data_of(run)
    if not kept.is_dir():
        raise DataError(f"{kept}: the tokenized text of {run.path} is not here any more.")
    if data.valid is not None:
        return tokenize(data.valid, tokenizer, kept / "valid", progress)
    return tokenize_all(data, tokenizer, kept, progress).valid


def _data_of(run: Run) -> tuple[TextData, Path]:
    """Return where a run's text comes from, and where it is kept tokenized."""
    return run.data_settings(TextData), Path(run.data["folder"])

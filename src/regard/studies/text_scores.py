"""How well a language model knows a text: its surprise by token, byte and word."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch

from regard.data.corpus import Corpus
from regard.data.windows import Stream, sliding_windows
from regard.errors import DataError
from regard.nn import is_out_of_memory, release_memory
from regard.objectives import LanguageObjective
from regard.progress import SILENT, Progress
from regard.studies.prepared import Prepared
from regard.studies.run import Run
from regard.training import Machine, MachineSettings, prepare_machine


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


class Beginning:
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
    stream = stream if count is None else Beginning(stream, count)
    limit = machine.micro_batch_tokens
    while True:
        try:
            return _text_loss(model, stream, end, window, stride, machine, limit)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or limit <= window:
                raise
        release_memory(machine.device)
        limit //= 2


@torch.inference_mode()
def _text_loss(
    model: Any, stream: Stream, end: int, window: int, stride: int, machine: Machine, limit: int
) -> TextLoss:
    objective, total, count = LanguageObjective(), 0.0, 0
    for batch in sliding_windows(stream, end, window, stride, limit):
        with machine.autocast():
            part = objective(model, batch.to(machine.device))["surprise"]
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
    end, window = pipeline.tokenizer.end, int(prepared.facts["window"])
    return {
        name: evaluate_text(pipeline.model, corpus, name, end, window, machine).figures()
        for name, corpus in prepared.tests.items()
    }

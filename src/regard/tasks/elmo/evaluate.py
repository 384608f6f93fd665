"""How well an ELMo knows a text: the surprise of its words from the left and from the right."""

import math
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.shards import tokenize
from regard.data.corpus.splits import tokenize_all
from regard.data.feeds.char_words import WordBook, fixed_words
from regard.data.settings.text import TextData, TextSource
from regard.errors import DataError, RunError
from regard.nn.inference.memory import retry_smaller
from regard.objectives.bidirectional_lm import TwoWayObjective
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.load import load
from regard.training.device.machine import Machine, prepare_machine
from regard.training.settings import MachineSettings


@dataclass(frozen=True)
class SpelledText:
    """A text as bytes, the numbers of its words, and how it is cut."""

    corpus: Corpus
    book: WordBook
    length: int
    """Ids, that is bytes, of a window."""
    bytes_per_word: float

    @classmethod
    def of(cls, corpus: Corpus, bundle: Bundle) -> "SpelledText":
        """Return a text as a model is to read it."""
        settings: Any = bundle.settings
        size = float(bundle.facts["bytes_per_word"])
        length = max(8, round(int(bundle.facts["window"]) * size))
        return cls(corpus, WordBook(bundle.tokenizers["words"], settings.longest_word - 1), length, size)


@dataclass
class BothLosses:
    """Sums over words that have a neighbor."""

    forward: float = 0.0
    backward: float = 0.0
    count: int = 0
    words: int = 0
    unknown: int = 0

    def named(self) -> dict[str, float]:
        """Return means by name; the loss is what is minimised."""
        forward, backward = (each / max(1, self.count) for each in (self.forward, self.backward))
        return {
            "loss": (forward + backward) / 2,
            "forward_loss": forward,
            "backward_loss": backward,
            "forward_perplexity": math.exp(min(forward, 700.0)),
            "backward_perplexity": math.exp(min(backward, 700.0)),
        }


@dataclass(frozen=True)
class ElmoEvaluation:
    """The figures of one model on one text; ends of documents are words too."""

    name: str
    words: int
    oov_fraction: float
    """Share of the words that the model cannot say, and calls unknown."""
    loss: float
    """The mean of both directions."""
    forward_loss: float
    backward_loss: float
    forward_perplexity: float
    backward_perplexity: float
    window: int
    vocabulary: int
    test_set: str
    """A hash of the text as the model reads it."""

    def figures(self) -> dict[str, Any]:
        """Return everything as plain values, with the figure a run is known by in its usual place."""
        rule = f"mean of both directions, {self.vocabulary:,} words, windows of {self.window}"
        score = {"name": "perplexity", "value": math.exp(min(self.loss, 700.0)), "signature": rule}
        return asdict(self) | {"scores": [score]}


def both_losses(model: Any, text: SpelledText, machine: Machine, words: int | None = None) -> BothLosses:
    """Return the surprise of (about the first so many words of) a text; with less memory, less is read together."""
    count = None if words is None else max(text.length, round(words * text.bytes_per_word))
    limit = round(machine.micro_batch_tokens * text.bytes_per_word)
    attempt = lambda limit: _both_losses(model, text, machine, limit, count)
    return retry_smaller(attempt, limit, text.length, machine.device)


@torch.inference_mode()
def _both_losses(model: Any, text: SpelledText, machine: Machine, limit: int, count: int | None) -> BothLosses:
    objective, found = TwoWayObjective(), BothLosses()
    for batch in fixed_words(text.corpus, text.book, text.length, limit, count):
        with machine.autocast():
            loss = objective(model, batch.to(machine.device))
        found.forward += float(loss["forward"].sum)
        found.backward += float(loss["backward"].sum)
        found.count += batch.label_count
        found.words += int((batch.words >= 0).sum())
        found.unknown += int((batch.words == text.book.unknown).sum())
    return found


def evaluate_elmo(
    model: Any, text: SpelledText, name: str, facts: dict[str, Any], machine: Machine
) -> ElmoEvaluation:
    """Return the figures of a model on a whole text."""
    found = both_losses(model, text, machine)
    if not found.count:
        raise DataError(f"{name}: there is no text to score; give at least a line.")
    return ElmoEvaluation(
        name=name,
        words=found.words,
        oov_fraction=found.unknown / found.words,
        window=int(facts["window"]),
        vocabulary=int(facts["words"]),
        test_set=text.corpus.fingerprint,
        **found.named(),
    )


def score_elmo(run: Run, pipeline: Any, prepared: Prepared, progress: Progress = SILENT) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, and return the figures by set."""
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    facts = pipeline.bundle.facts
    return {
        name: evaluate_elmo(pipeline.model, text, name, facts, machine).figures()
        for name, text in prepared.tests.items()
    }


def measure_elmo(
    path: str | Path, place: TextSource | None = None, *, device: str = "auto", progress: Progress = SILENT
) -> dict[str, ElmoEvaluation]:
    """Evaluate an ELMo's run or checkpoint on other text, or on the run's own test sets, by name."""
    pipeline: Any = load(path, device)
    bundle = pipeline.bundle
    machine = prepare_machine(MachineSettings(device=str(pipeline.device), precision="fp32"))
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        sets = _texts(Path(path), place, bundle, Path(folder), progress)
        return {
            name: evaluate_elmo(pipeline.model, SpelledText.of(each, bundle), name, bundle.facts, machine)
            for name, each in sets.items()
        }


def _texts(
    path: Path, place: TextSource | None, bundle: Bundle, folder: Path, progress: Progress
) -> dict[str, Corpus]:
    """Return the text at a place, or a run's own test sets (without any: what is watched)."""
    tokenizer = bundle.tokenizers["tokenizer"]
    if place is not None:
        return {place.name: tokenize(place, tokenizer, folder, progress)}
    run = Run(path)
    if not run.exists:
        raise RunError(f"{path}: a checkpoint alone has no test sets; give --text FILE.")
    data = run.data_settings(TextData)
    corpora = tokenize_all(data, tokenizer, Path(run.data["folder"]), progress)
    return corpora.test or {"valid": corpora.valid}

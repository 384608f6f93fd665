"""Cost of int8 weights in perplexity, measured once and kept in the run's folder."""

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from regard import miniature
from regard.checkpoint.atomic import write_json
from regard.checkpoint.store import find_checkpoint
from regard.config.records import Count, Record, read_record
from regard.errors import RegardError, RunError
from regard.progress import SILENT, Progress
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.quantization import WeightsCost
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import validation_corpus
from regard.version import __version__

COST_FILE = "int8.json"
"""File in a run's folder that keeps the cost."""

COST_TOKENS = 512
"""Tokens that are scored: some seconds for a large model; the standard error is reported too."""

STORIES = 40
"""Miniature documents that are scored where a run's own text is not at hand."""


class CostRecord(Record):
    """Schema of a cost."""

    tokens: Count
    full_perplexity: Annotated[float, Field(gt=0)]
    perplexity: float
    error: float


class KeptRecord(Record):
    """Schema of the file that keeps a cost."""

    measured: str
    text: str
    cost: CostRecord


@dataclass(frozen=True)
class MeasuredCost:
    """A cost with the name of the text it was measured on."""

    cost: WeightsCost
    text: str

    def __str__(self) -> str:
        return f"{self.cost} of {self.text}"


def measure_quantization_cost(
    record: RunRecord | None, generator: Generator, progress: Progress = SILENT
) -> MeasuredCost:
    """Return the increase in perplexity due to a generator's quantized weights.

    It is measured on a run's validation text and kept in its folder; without a run, or without that text, on stories
    of the miniature world.
    """
    if record is None:
        return _on_stories(generator, progress)
    digest = _hash(record.path)
    with suppress(OSError, RunError):  # not measured yet, or not by this version
        kept = read_record(record.path / COST_FILE, KeptRecord, RunError, "the cost of int8 weights")
        if kept.measured == digest:
            cost = kept.cost
            return MeasuredCost(
                WeightsCost(cost.tokens, cost.full_perplexity, cost.perplexity, cost.error), kept.text
            )
    measured = _on_validation(record, generator, progress)
    with suppress(OSError):  # a folder that cannot be written to: it is measured again
        write_json(record.path / COST_FILE, {"measured": digest} | asdict(measured))
    return measured


def _hash(path: Path) -> str:
    """Return the hash that identifies the loaded checkpoint and this version."""
    manifest = (find_checkpoint(path) / "manifest.json").read_bytes()
    return hashlib.sha256(manifest + __version__.encode()).hexdigest()


def _on_validation(record: RunRecord, generator: Generator, progress: Progress) -> MeasuredCost:
    try:
        text = validation_corpus(record, generator.tokenizer, progress)
    except RegardError as error:
        progress.warn(str(error))
        return _on_stories(generator, progress)
    ids = text.read(0, min(COST_TOKENS, len(text))).tolist()
    return MeasuredCost(generator.weights_cost([ids], progress), "the run's validation text")


def _on_stories(generator: Generator, progress: Progress) -> MeasuredCost:
    encoded = generator.tokenizer.encode_batch(list(miniature.documents("test", STORIES)))
    ids = [token for story in encoded for token in [*story, generator.tokenizer.eos_id]][:COST_TOKENS]
    return MeasuredCost(generator.weights_cost([ids], progress), "stories of the miniature world")

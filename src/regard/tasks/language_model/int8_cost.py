"""What int8 weights cost a language model, measured once on a text at hand."""

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

KEPT = "int8.json"
"""Where a run keeps what was measured."""

LOOKED_AT = 512
"""Tokens that are measured on: some seconds for a large model, and the error is given beside the figure."""

STORIES = 40


class CostRecord(Record):
    """A cost as it is written."""

    tokens: Count
    full_perplexity: Annotated[float, Field(gt=0)]
    perplexity: float
    error: float


class KeptRecord(Record):
    """What a run keeps of it."""

    measured: str
    text: str
    cost: CostRecord


@dataclass(frozen=True)
class MeasuredCost:
    """A cost, and the text it was measured on."""

    cost: WeightsCost
    text: str

    def __str__(self) -> str:
        return f"{self.cost} of {self.text}"


def measure_quantization_cost(
    record: RunRecord | None, generator: Generator, progress: Progress = SILENT
) -> MeasuredCost:
    """Return the perplexity that the weights a generator was loaded with cost.

    It is measured on a run's validation text and kept in its folder; without a run, or without that text, on stories
    of the miniature world.
    """
    if record is None:
        return _on_stories(generator, progress)
    mark = _mark(record.path)
    with suppress(OSError, RunError):  # not measured yet, or not by this version
        kept = read_record(record.path / KEPT, KeptRecord, RunError, "what int8 weights cost")
        if kept.measured == mark:
            cost = kept.cost
            return MeasuredCost(
                WeightsCost(cost.tokens, cost.full_perplexity, cost.perplexity, cost.error), kept.text
            )
    cost_here = _on_validation(record, generator, progress)
    with suppress(OSError):  # a folder that cannot be written to: it is measured again
        write_json(record.path / KEPT, {"measured": mark} | asdict(cost_here))
    return cost_here


def _mark(path: Path) -> str:
    """Return what tells the checkpoint that is loaded, and the program, from others."""
    manifest = (find_checkpoint(path) / "manifest.json").read_bytes()
    return hashlib.sha256(manifest + __version__.encode()).hexdigest()


def _on_validation(record: RunRecord, generator: Generator, progress: Progress) -> MeasuredCost:
    try:
        text = validation_corpus(record, generator.tokenizer, progress)
    except RegardError as error:
        progress.warn(str(error))
        return _on_stories(generator, progress)
    ids = text.read(0, min(LOOKED_AT, len(text))).tolist()
    return MeasuredCost(generator.weights_cost([ids], progress), "the run's validation text")


def _on_stories(generator: Generator, progress: Progress) -> MeasuredCost:
    encoded = generator.tokenizer.encode_batch(list(miniature.documents("test", STORIES)))
    ids = [token for story in encoded for token in [*story, generator.tokenizer.eos_id]][:LOOKED_AT]
    return MeasuredCost(generator.weights_cost([ids], progress), "stories of the miniature world")

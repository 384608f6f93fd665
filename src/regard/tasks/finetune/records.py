"""Schemas of a fine-tuned model's files: facts in its checkpoint, its data and scores in run.json, its passports."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.checkpoint.facts import Length, TaskFacts
from regard.config.records import Count, Record
from regard.data.settings.examples import Pairs
from regard.models.base.settings import HeadSettings
from regard.tasks.record import ScoresRecord, SetReport, SetSources


class HeadFacts(TaskFacts):
    """Facts in the checkpoint of every fine-tuned model."""

    max_length: Length

    @property
    def known_labels(self) -> list[str] | None:
        """The labels of the head; None where it has none."""
        return None


class LabelFacts(HeadFacts):
    """Facts of a model that predicts one of several labels."""

    labels: list[str] = Field(min_length=1)

    @property
    def known_labels(self) -> list[str] | None:
        """The labels, in the order of the outputs."""
        return self.labels

    @property
    def label_ids(self) -> dict[str, int]:
        """The id of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    def conflict(self, head: HeadSettings | None) -> str:
        """Return a contradiction between labels and head as text; empty: none."""
        if head is not None and len(self.labels) != head.outputs:
            return f"labels: there are {len(self.labels):,}, but head.outputs is {head.outputs:,}"
        return super().conflict(head)


class TextFacts(HeadFacts):
    """Facts of a model of single texts or of text pairs."""

    texts: Literal[1, 2]
    pair_encoding: Pairs

    def conflict(self, head: HeadSettings | None) -> str:
        """Return a contradiction between pair encoding and head as text; empty: none."""
        kind = head.kind if head is not None else None
        if (self.pair_encoding == "bi-encoder") != (kind == "similarity"):
            return f"pair_encoding: {self.pair_encoding} does not go with head.kind {kind}"
        if self.texts == 1 and self.pair_encoding != "cross-encoder":
            return f"pair_encoding: {self.pair_encoding} is for two texts, and texts is 1"
        return super().conflict(head)


class ExampleSourceRecord(Record):
    """The file of one set of examples."""

    path: str


class ExampleCounts(Record):
    """Counts of one set: examples read, kept and dropped, labels, and suspicious examples."""

    read: Count
    kept: Count
    dropped: dict[str, Count]
    held_out: Count = 0
    labels: dict[str, Count]
    contradictory: Count
    duplicates: Count = 0
    truncated: Count


class ExampleReportRecord(SetReport[ExampleCounts]):
    """The data of a fine-tuning run."""

    sources = SetSources[ExampleSourceRecord]

    texts: Count

    @property
    def plan(self) -> dict[str, Any]:
        """Numbers of examples kept, dropped and truncated."""
        return {
            "init_from": self.init_from.path if self.init_from else None,
            "train_examples": self.train.kept,
            "valid_examples": self.valid.kept,
            "truncated": self.train.truncated,
            "dropped": self.train.dropped,
        }


class ClassRecord(Record):
    """The metrics of one label."""

    label: str
    count: Count
    precision: float
    recall: float
    f1: float

    @property
    def numbers(self) -> tuple[str, str, str]:
        """Precision, recall and F1 as text."""
        return f"{self.precision:.4f}", f"{self.recall:.4f}", f"{self.f1:.4f}"


class ErrorRecord(Record):
    """A wrong prediction."""

    texts: list[str]
    label: str
    predicted: str
    probability: float | None


class HeadScores(ScoresRecord):
    """The evaluation of a fine-tuned model on one set; which metrics it has depends on its task."""

    mix: dict[str, float] | None = None
    classes: list[ClassRecord] = Field(default_factory=list)
    confusion: list[list[Count]] = Field(default_factory=list)
    errors: list[ErrorRecord]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "HeadScores":
        size = len(self.classes)
        if self.confusion and [len(row) for row in self.confusion] != [size] * size:
            raise ValueError(f"confusion has not {size} rows and columns, one for each label")
        return self


def describe_mix(mix: Mapping[str, float]) -> str:
    """Return the weight of each layer of an ELMo, and their common scale, as text."""
    return ", ".join(f"{name} {value:.3f}" for name, value in mix.items())

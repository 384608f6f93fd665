"""The schemas of a race's files: the request and the plan, the measurements, and the results."""

from typing import Any

from pydantic import Field, model_validator

from regard.config.names import FileName
from regard.config.records import Count, Record
from regard.studies.folder import StudyRecord


class AskedRecord(Record):
    """The request: recipe, budget, varied setting and members."""

    recipe: str
    budget: str
    vary: str | None = None
    members: dict[FileName, dict[str, Any]]


class PlannedRecord(Record):
    """The length of a member's training."""

    steps: Count
    parameters: Count
    seconds_per_step: float | None = None
    """Measured in a trial where the budget is a duration."""


class RaceRecord(StudyRecord):
    """The race.json."""

    asked: AskedRecord
    plan: dict[FileName, PlannedRecord]

    @model_validator(mode="after")
    def _plans_every_member(self) -> "RaceRecord":
        if different := set(self.plan) ^ set(self.asked.members):
            raise ValueError(f"plan and asked.members do not have the same names ({min(different)})")
        return self


class ColumnRecord(Record):
    """A column of the table: a metric of every member."""

    label: str
    key: str
    format: str
    best: str

    @model_validator(mode="after")
    def _can_be_shown(self) -> "ColumnRecord":
        try:
            format(0.5, self.format)
        except ValueError:
            raise ValueError(f"format: {self.format[:20]} is not a number format") from None
        return self


class TimesRecord(Record):
    """Training time and throughput of a member."""

    seconds: float
    tokens_per_second: float


class PointRecord(Record):
    """A validation during training, after `seconds` of training alone."""

    seconds: float
    loss: float | None = None
    bleu: float | None = None


class MemberRecord(Record):
    """The results of a member."""

    name: str
    parameters: Count
    steps: Count
    times: TimesRecord
    curve: list[PointRecord] = Field(default_factory=list)


class RungRecord(Record):
    """The published score of a model."""

    name: str
    bleu: float


class PublishedRecord(Record):
    """Published scores beside those of a race of translators."""

    title: str
    about: str
    rungs: list[RungRecord]


class RaceResults(Record):
    """The results.json of a race."""

    columns: list[ColumnRecord] = Field(min_length=1)
    members: list[MemberRecord]
    failed: dict[str, str]
    published: PublishedRecord | None = None

    @model_validator(mode="after")
    def _has_every_metric(self) -> "RaceResults":
        for member in self.members:
            for column in self.columns:
                if not isinstance((member.model_extra or {}).get(column.key), int | float):
                    raise ValueError(f"{column.key} of {member.name} is not a number")
        return self


Curve = dict[str, list[float]]


class MeasuredRecord(Record):
    """The measurements of a member."""

    checkpoint: str
    reach: dict[str, Curve | None]


class PositionLossRecord(Record):
    """The mean loss of tokens with `shortest` to `longest` tokens of context."""

    shortest: Count
    longest: Count
    loss: float


class MeasuredText(MeasuredRecord):
    """The measurements of a language model."""

    positions: list[PositionLossRecord]


class BucketRecord(Record):
    """The BLEU of sentences whose source has `shortest` to `longest` tokens."""

    shortest: Count
    longest: Count
    sentences: Count
    bleu: float


class SentenceRecord(Record):
    """The sentence pair whose cross-attention is shown for all members."""

    source: str
    target: str


class AlignmentRecord(Record):
    """The cross-attention weights (target, source) of a translator."""

    source: list[str]
    target: list[str]
    weights: list[list[float]]


class StepTimes(Record):
    """Milliseconds per training step and decoded sentence, by length."""

    lengths: list[Count]
    training_ms: list[float]
    decoding_ms: list[float]


class SampleRecord(Record):
    """A sentence with its reference and its translation."""

    source: str
    reference: str
    output: str


class MeasuredTranslator(MeasuredRecord):
    """The measurements of a translator."""

    samples: list[SampleRecord]

    lengths: list[BucketRecord]
    sentence: SentenceRecord
    alignment: AlignmentRecord | None
    step_times: StepTimes

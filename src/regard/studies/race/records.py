"""The schemas of a race's files: what was asked for and planned, what was measured, and the results."""

from typing import Any

from pydantic import Field, model_validator

from regard.config.names import FileName
from regard.config.records import Count, Record


class AskedRecord(Record):
    """What a user asked for."""

    recipe: str
    budget: str
    vary: str | None = None
    members: dict[FileName, dict[str, Any]]


class PlannedRecord(Record):
    """How long a member learns."""

    steps: Count
    parameters: Count
    seconds_per_step: float | None = None


class RaceRecord(Record):
    """The race.json."""

    format: int
    asked: AskedRecord
    plan: dict[FileName, PlannedRecord]

    @model_validator(mode="after")
    def _plans_every_member(self) -> "RaceRecord":
        if odd := set(self.plan) ^ set(self.asked.members):
            raise ValueError(f"plan and asked.members do not have the same names ({min(odd)})")
        return self


class ColumnRecord(Record):
    """A figure of every member."""

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
    """How long a member took."""

    seconds: float
    tokens_per_second: float


class MemberRecord(Record):
    """What came of a member."""

    name: str
    parameters: Count
    steps: Count
    times: TimesRecord


class RaceResults(Record):
    """The results.json of a race."""

    columns: list[ColumnRecord] = Field(min_length=1)
    members: list[MemberRecord]
    failed: dict[str, str]

    @model_validator(mode="after")
    def _has_every_figure(self) -> "RaceResults":
        for member in self.members:
            for column in self.columns:
                if not isinstance((member.model_extra or {}).get(column.key), int | float):
                    raise ValueError(f"{column.key} of {member.name} is not a number")
        return self


Curve = dict[str, list[float]]


class MeasuredRecord(Record):
    """What was measured on a member."""

    checkpoint: str
    reach: dict[str, Curve | None]


class PositionLossRecord(Record):
    """The loss of tokens with so many tokens before them."""

    shortest: Count
    longest: Count
    loss: float


class MeasuredText(MeasuredRecord):
    """What was measured on a language model."""

    positions: list[PositionLossRecord]


class BucketRecord(Record):
    """The BLEU of sentences of some length."""

    shortest: Count
    longest: Count
    sentences: Count
    bleu: float


class SentenceRecord(Record):
    """The sentence that all members are looked at with."""

    source: str
    target: str


class AlignmentRecord(Record):
    """Where a translator looks while it says each word."""

    source: list[str]
    target: list[str]
    weights: list[list[float]]


class StepTimes(Record):
    """How long a step takes, by length."""

    lengths: list[Count]
    training_ms: list[float]
    decoding_ms: list[float]


class MeasuredTranslator(MeasuredRecord):
    """What was measured on a translator."""

    lengths: list[BucketRecord]
    sentence: SentenceRecord
    alignment: AlignmentRecord | None
    step_times: StepTimes

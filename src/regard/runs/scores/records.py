"""The schemas of figures that are kept: of the sets of a run, by task, and of a score passport."""

from typing import Any

from pydantic import Field, model_validator

from regard.checkpoint.facts import OriginRecord
from regard.config.names import FileName
from regard.config.records import Count, Record

METRICS_OF_TRANSLATION = {"BLEU", "chrF", "TER"}


class ScoreRecord(Record):
    """One score, and how it was computed."""

    name: str
    value: float
    signature: str


class FiguresRecord(Record):
    """The figures on a set; the first of its scores is what a run is known by."""

    scores: list[ScoreRecord] = Field(min_length=1)


class TranslationFigures(FiguresRecord):
    """The figures of a translator."""

    sentences: Count
    too_long: Count = 0
    loss: float | None
    perplexity: float | None
    sentences_per_second: float | None
    paper_scores: list[ScoreRecord] = Field(default_factory=list)
    decode: dict[str, Any]

    @model_validator(mode="after")
    def _has_all_metrics(self) -> "TranslationFigures":
        if missing := METRICS_OF_TRANSLATION - {score.name for score in self.scores}:
            raise ValueError(f"{min(missing)} is missing")
        return self


class TextFigures(FiguresRecord):
    """The figures of a language model."""

    tokens: Count
    loss: float
    perplexity: float
    bits_per_byte: float
    word_perplexity: float
    window: Count
    stride: Count
    test_set: str


class MaskedLmScores(FiguresRecord):
    """The figures of a masked language model."""

    masked: Count
    loss: float
    mlm_loss: float
    pseudo_perplexity: float
    masked_accuracy: float
    majority_baseline: float
    next_sentence_accuracy: float | None
    pairs: Count
    rule: str
    test_set: str


class ElmoFigures(FiguresRecord):
    """The figures of an ELMo."""

    words: Count
    oov_fraction: float
    loss: float
    forward_loss: float
    backward_loss: float
    forward_perplexity: float
    backward_perplexity: float
    vocabulary: Count
    window: Count
    test_set: str


class ClassRecord(Record):
    """The figures of one label."""

    label: str
    count: Count
    precision: float
    recall: float
    f1: float


class MistakeRecord(Record):
    """An example that a model got wrong."""

    texts: list[str]
    label: str
    said: str
    probability: float | None


class HashesRecord(Record):
    """What tells a test set from others."""

    sources: str
    references: list[str]


class LabelFigures(FiguresRecord):
    """The figures of a model that was fine-tuned; which it has depends on its task."""

    examples: Count
    loss: float
    test_set: HashesRecord
    intervals: dict[str, list[float]]
    mix: dict[str, float] | None = None
    classes: list[ClassRecord] = Field(default_factory=list)
    confusion: list[list[Count]] = Field(default_factory=list)
    mistakes: list[MistakeRecord]
    accuracy: float = 0.0
    answerable_f1: float = 0.0
    majority_baseline: float = 0.0
    exact_match: float = 0.0
    f1: float = 0.0
    macro_f1: float = 0.0
    matthews: float = 0.0
    mean_absolute_error: float = 0.0
    micro_f1: float = 0.0
    pearson: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    spearman: float = 0.0
    threshold: float = 0.0
    unanswerable_exact_match: float = 0.0

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "LabelFigures":
        given = self.model_fields_set | set(self.model_extra or ())
        for name, interval in self.intervals.items():
            if name not in given or not isinstance(getattr(self, name), float) or len(interval) != 2:
                raise ValueError(f"intervals.{name} belongs to no figure")
        size = len(self.classes)
        if self.confusion and [len(row) for row in self.confusion] != [size] * size:
            raise ValueError(f"confusion has not {size} rows and columns, one for each label")
        return self


class SectionRecord(Record):
    """Analogies of one kind."""

    name: str
    questions: Count
    covered: Count
    accuracy: float | None


class AnalogiesRecord(Record):
    """The answers to a file of analogies."""

    path: str
    sections: list[SectionRecord]
    total: SectionRecord
    semantic: SectionRecord
    syntactic: SectionRecord


class RatingRecord(Record):
    """How cosines agree with what people say of a file's pairs."""

    path: str
    pairs: Count
    covered: Count
    spearman: float | None
    pearson: float | None


class AnalogyFigures(Record):
    """The figures of word vectors."""

    analogies: AnalogiesRecord = Field(default=None)  # type: ignore[assignment]
    similarities: list[RatingRecord] = Field(default_factory=list)


class HypothesesRecord(Record):
    """The file with the hypotheses of a passport, beside it."""

    file: FileName
    sha256: str


class PassportRecord(Record):
    """A score passport, whatever its task."""

    passport: int
    set: str
    scores: list[ScoreRecord]
    test_set: HashesRecord
    hypotheses: HypothesesRecord
    decode: dict[str, Any] = Field(default_factory=dict)


class TranslationPassport(PassportRecord):
    """The score passport of a translator."""

    sentences: Count
    loss: float | None
    paper_scores: list[ScoreRecord]
    decode: dict[str, Any]
    checkpoint: OriginRecord

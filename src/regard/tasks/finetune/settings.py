"""The settings of runs that fine-tune: a body, perhaps one that has learned already, under a small head."""

from functools import cache
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field, create_model, model_validator

from regard.config.settings import Settings
from regard.data.settings.examples import ChoiceSource, ExampleData, LabelSource, QuestionSource, TagSource
from regard.models.base.protocols import ModelSettings
from regard.models.families import FAMILIES, READ_BOTH_WAYS
from regard.objectives.head import LabelObjectiveSettings
from regard.tasks.finetune.shapes import SHAPES
from regard.tasks.translate.settings import check_figure
from regard.text.settings import CorpusTextSettings, MaskedTextSettings, WordTextSettings
from regard.training.settings import MachineSettings, TrainSettings

M = TypeVar("M", bound=ModelSettings)


class TuningTrainSettings(TrainSettings):
    """How a model learns from examples."""

    examples_per_update: int | None = Field(None, ge=1)
    """Examples (windows, for questions) that make an update; unset: tokens_per_update says how much."""


class FineTuneSettings(Settings, Generic[M]):
    """What all fine-tuning has in common; `model` takes the settings of its family."""

    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """What to begin with: a model's run or checkpoint, or hf:DIR; unset: nothing that has learned yet."""
    text: CorpusTextSettings = CorpusTextSettings()
    """The tokenizer, where there is no start that brings its own."""
    max_length: int | None = Field(None, ge=8)
    """Tokens of a sequence at most; unset: as many as the start has learned to read or the model has places for, and
    512 where there is no bound."""
    model: M
    pooling: Literal["token", "mean", "max"] | None = None
    """What stands for a whole text that an encoder has read: its first token by the pooling layer, or the mean of all
    tokens, or the largest values of all; unset: as the start makes vectors of texts, the largest values behind a
    reader, and the first token otherwise."""
    freeze_body: bool | None = None
    """Whether the start stays as it is, and only what is above it learns; unset: an ELMo stays, others are tuned."""
    bilstm_width: int | None = Field(None, ge=0)
    """Width, in each direction, of an LSTM over what the model has made of the tokens; 0: none; unset: 64 over an
    ELMo and over word vectors, and none over others."""
    extra_vectors: str | None = Field(None, min_length=1)
    """Word vectors that a reader is given beside what an ELMo knows of each word: a file, or a run of the task
    vectors; unset: none."""
    freeze_extra_vectors: bool = False
    """Whether these stay as they are, or are tuned with the rest."""
    head_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer of the head."""
    objective: LabelObjectiveSettings = LabelObjectiveSettings()
    train: TuningTrainSettings = TuningTrainSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether what is odd about the data is said before training."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "FineTuneSettings[M]":
        check_figure(self.train, "loss", *SHAPES[self.task].watched)  # type: ignore[attr-defined]
        if self.freeze_extra_vectors and self.extra_vectors is None:
            raise ValueError(
                "freeze_extra_vectors: there are no vectors beside the model; give some with extra_vectors."
            )
        if self.init_from is not None and self.text != type(self.text)():
            raise ValueError(
                f'text: the tokenizer comes from the start "{self.init_from}"; leave these settings out.'
            )
        return self


class TextsSettings(FineTuneSettings[M], Generic[M]):
    """What runs on single texts and on pairs have in common."""

    data: ExampleData[LabelSource]


class ClassifySettings(TextsSettings[M], Generic[M]):
    """Everything about the run of a classifier."""

    task: Literal["classify"] = "classify"
    pair_encoding: Literal["cross-encoder", "both-orders"] = "cross-encoder"
    """How pairs are read: as they stand, or in both orders, for pairs whose order means nothing."""


class RegressSettings(TextsSettings[M], Generic[M]):
    """Everything about the run of a model that gives texts a number."""

    task: Literal["regress"] = "regress"
    pair_encoding: Literal["cross-encoder", "both-orders", "bi-encoder"] | None = None
    """How pairs are read: as they stand, in both orders, or each text alone, so that the cosine of their vectors says
    the number; unset: apart where the start makes vectors of texts, and as they stand where it does not."""


class ChooseSettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a model that chooses what follows a context."""

    task: Literal["choose"] = "choose"
    data: ExampleData[ChoiceSource]


class TagSettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a model that gives every word a tag."""

    task: Literal["tag"] = "tag"
    data: ExampleData[TagSource]


class AnswerSettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a model that finds answers in texts."""

    task: Literal["answer"] = "answer"
    data: ExampleData[QuestionSource]
    max_length: int | None = Field(384, ge=32)
    """Tokens of a window at most, the question's included."""
    stride: int = Field(128, ge=1)
    """Tokens between the beginnings of two windows of a text that is longer than one."""
    max_answer_tokens: int = Field(30, ge=1)
    """Tokens of an answer at most."""


@cache
def settings_of(task: Any, model: type[ModelSettings]) -> type[Settings]:
    """Return the settings of a task with a model of some family; an encoder's tokenizer is BERT's, unless told."""
    schema: Any = task[model]
    kind = next(each.kind for each in FAMILIES.values() if each.settings is model)
    if kind == "embeddings":
        return create_model(schema.__name__, __base__=schema, text=(WordTextSettings, WordTextSettings()))
    if kind not in READ_BOTH_WAYS:
        return schema
    return create_model(schema.__name__, __base__=schema, text=(MaskedTextSettings, MaskedTextSettings()))

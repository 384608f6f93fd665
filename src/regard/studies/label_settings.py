"""The settings of runs that fine-tune: a body, perhaps one that has learned already, under a small head."""

from typing import Generic, Literal, TypeVar

from pydantic import Field, model_validator

from regard.config import Settings
from regard.data.label_settings import ChoiceSource, ExampleData, LabelSource
from regard.models import ModelSettings
from regard.objectives import LabelObjectiveSettings
from regard.studies.settings import check_figure
from regard.text import CorpusTextSettings
from regard.training import MachineSettings, TrainSettings

M = TypeVar("M", bound=ModelSettings)


class FineTuneSettings(Settings, Generic[M]):
    """What all fine-tuning has in common; `model` takes the settings of its family."""

    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    start: str | None = None
    """What to begin with: a language model's run or checkpoint, or hf:DIR; unset: nothing that has learned yet."""
    text: CorpusTextSettings = CorpusTextSettings()
    """The tokenizer, where there is no start that brings its own."""
    max_length: int | None = Field(None, ge=8)
    """Tokens of a sequence at most; unset: as many as the model has places for, and 512 where it has no bound."""
    model: M
    head_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer of the head."""
    objective: LabelObjectiveSettings = LabelObjectiveSettings()
    train: TrainSettings = TrainSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether what is odd about the data is said before training."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "FineTuneSettings[M]":
        check_figure(self.train, "loss", "accuracy")
        if self.start is not None and self.text != CorpusTextSettings():
            raise ValueError(f'text: the tokenizer comes from the start "{self.start}"; leave these settings out.')
        return self


class ClassifySettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a classifier."""

    task: Literal["classify"] = "classify"
    data: ExampleData[LabelSource]
    pairs: Literal["one-order", "both-orders"] = "one-order"
    """How pairs are read: as they stand, or in both orders, for pairs whose order means nothing."""


class ChooseSettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a model that chooses what follows a context."""

    task: Literal["choose"] = "choose"
    data: ExampleData[ChoiceSource]

"""A run as one frozen value: the settings of every layer, composed."""

from typing import Generic, Literal, TypeVar

from pydantic import Field, model_validator

from regard.config import Settings
from regard.data.settings import PairData
from regard.decoding import DecodeSettings
from regard.models import ModelSettings
from regard.objectives import ObjectiveSettings
from regard.text import TextSettings
from regard.training import MachineSettings, TrainSettings

M = TypeVar("M", bound=ModelSettings)


class ValidationSettings(Settings):
    """What is measured while training."""

    bleu_sentences: int = Field(200, ge=0)
    """Validation sentences translated (greedily) for BLEU; 0: only the loss is measured."""


class TranslateSettings(Settings, Generic[M]):
    """Everything about a translation run; `model` takes the settings of its family."""

    task: Literal["translate"] = "translate"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    data: PairData
    text: TextSettings = TextSettings()
    model: M
    objective: ObjectiveSettings = ObjectiveSettings()
    train: TrainSettings = TrainSettings()
    validation: ValidationSettings = ValidationSettings()
    decode: DecodeSettings = DecodeSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether the data is looked over before training, and what is odd about it said."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "TranslateSettings[M]":
        if self.train.select_by == "bleu" and self.validation.bleu_sentences == 0:
            raise ValueError('train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.')
        if getattr(self.model, "embeddings", None) == "shared" and self.text.vocabularies == "separate":
            raise ValueError(
                'model.embeddings: "shared" needs one vocabulary for both languages; say text.vocabularies=shared, '
                'or model.embeddings="target".'
            )
        return self

"""A translation run as one frozen value: the settings of every layer, composed."""

from typing import Any, Generic, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.settings.pairs import PairData
from regard.decoding.settings import MaskPredictDecoding, TranslationDecoding
from regard.objectives.settings import MaskedTranslationObjectiveSettings, ObjectiveSettings
from regard.tasks.settings import (
    EmbeddingInitSettings,
    M,
    RunSettings,
    check_embedding_init,
    check_tokenizer_settings,
)
from regard.text.settings import TextSettings
from regard.training.settings import TrainSettings


class ValidationSettings(Settings):
    """Metrics computed at each validation."""

    bleu_sentences: int = Field(200, ge=0)
    """Validation sentences translated (greedily) for BLEU; 0: the loss alone is computed."""


class PairRunSettings(RunSettings[M], Generic[M]):
    """Settings of all translation runs; `model` takes the settings of its family."""

    task: Literal["translate"] = "translate"
    data: PairData
    text: TextSettings = TextSettings()
    vectors: EmbeddingInitSettings = EmbeddingInitSettings()
    train: TrainSettings = TrainSettings()
    validation: ValidationSettings = ValidationSettings()
    objective: ObjectiveSettings | MaskedTranslationObjectiveSettings
    decode: TranslationDecoding | MaskPredictDecoding

    @model_validator(mode="after")
    def _parts_fit(self) -> "PairRunSettings[M]":
        check_embedding_init(self.init_from, self.vectors)
        check_tokenizer_settings(self.init_from, self.text)
        if self.train.select_by == "bleu" and self.validation.bleu_sentences == 0:
            raise ValueError('train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.')
        if getattr(self.model, "embeddings", None) == "shared" and self.text.vocabularies == "separate":
            raise ValueError(
                'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, '
                'or model.embeddings="target".'
            )
        return self

    def shortened(self, steps: int) -> dict[str, Any]:
        """Return the overrides of a trial, which translates nothing."""
        return super().shortened(steps) | {"validation.bleu_sentences": 0}


class TranslateSettings(PairRunSettings[M], Generic[M]):
    """Everything about the run of an autoregressive translator."""

    objective: ObjectiveSettings = ObjectiveSettings()
    decode: TranslationDecoding = TranslationDecoding()


class MaskedTranslateSettings(PairRunSettings[M], Generic[M]):
    """Everything about the run of a conditional masked (mask-predict) translator."""

    objective: MaskedTranslationObjectiveSettings = MaskedTranslationObjectiveSettings()
    decode: MaskPredictDecoding = MaskPredictDecoding()

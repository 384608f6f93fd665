"""A run as one frozen value: the settings of every layer, composed."""

from typing import Generic, Literal, TypeVar

from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.settings.pairs import PairData
from regard.data.settings.text import TextData
from regard.decoding.settings import DecodeSettings, GenerateSettings, MaskPredictDecodeSettings
from regard.models.base.protocols import ModelSettings
from regard.models.transformer.mask_predict import MaskPredictSettings
from regard.objectives.language_model import LanguageObjectiveSettings
from regard.objectives.mask_predict import MaskedTranslationObjectiveSettings
from regard.objectives.translation import ObjectiveSettings
from regard.tasks.embedding_settings import VectorTableSettings
from regard.text.settings import CorpusTextSettings, TextSettings
from regard.training.settings import MachineSettings, TrainSettings

M = TypeVar("M", bound=ModelSettings)


MEASURED_FOR = {
    "bleu": "translators",
    "accuracy": "models that label, tag or choose",
    "macro_f1": "models that label",
    "matthews": "models that label",
    "pearson": "models that say a number",
    "spearman": "models that say a number",
    "f1": "models that tag or answer",
    "exact_match": "models that answer",
}


def check_figure(train: TrainSettings, *measured: str) -> None:
    """Refuse to select by a figure that a task does not measure."""
    if train.select_by not in measured:
        raise ValueError(
            f'train.select_by: "{train.select_by}" is for {MEASURED_FOR[train.select_by]}; leave it out.'
        )


def check_start(start: str | None, text: CorpusTextSettings | TextSettings, vectors: VectorTableSettings) -> None:
    """Refuse what a start brings along itself: its tokenizer (but not how it drops merges), and its table."""
    if start is None:
        return
    if vectors.path is not None:
        raise ValueError(f'vectors.path: the table of tokens comes from the start "{start}"; leave one of both out.')
    usual = type(text)().model_dump()
    others = [name for name, value in text.model_dump().items() if value != usual[name]]
    if own := next((name for name in others if not name.endswith("dropout")), None):
        raise ValueError(f'text.{own}: the tokenizer comes from the start "{start}"; leave this out.')


class ValidationSettings(Settings):
    """What is measured while training."""

    bleu_sentences: int = Field(200, ge=0)
    """Validation sentences translated (greedily) for BLEU; 0: only the loss is measured."""


class TextValidationSettings(Settings):
    """What is measured while a language model learns."""

    tokens: int = Field(200_000, ge=1)
    """Validation tokens looked at each time, from the beginning on."""


class LanguageSettings(Settings, Generic[M]):
    """Everything about the run of a language model; `model` takes the settings of its family."""

    task: Literal["language-model"] = "language-model"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """What to go on with: a language model's run or checkpoint, or hf:DIR; unset: a model that knows nothing yet."""
    data: TextData
    text: CorpusTextSettings = CorpusTextSettings()
    window: int | None = Field(None, ge=2)
    """Tokens read at once; unset: as many as the model has places for, and 256 where it has no bound."""
    model: M
    objective: LanguageObjectiveSettings = LanguageObjectiveSettings()
    train: TrainSettings = TrainSettings()
    validation: TextValidationSettings = TextValidationSettings()
    vectors: VectorTableSettings = VectorTableSettings()
    generate: GenerateSettings = GenerateSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether the data is looked over before training, and what is odd about it said."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "LanguageSettings[M]":
        check_figure(self.train, "loss")
        check_start(self.init_from, self.text, self.vectors)
        return self


class PairRunSettings(Settings, Generic[M]):
    """What all translation runs have in common; `model` takes the settings of its family."""

    task: Literal["translate"] = "translate"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """What to go on with: a translator's run or checkpoint, or hf:DIR; unset: a model that knows nothing yet."""
    data: PairData
    text: TextSettings = TextSettings()
    vectors: VectorTableSettings = VectorTableSettings()
    model: M
    train: TrainSettings = TrainSettings()
    validation: ValidationSettings = ValidationSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether the data is looked over before training, and what is odd about it said."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "PairRunSettings[M]":
        check_figure(self.train, "loss", "bleu")
        check_start(self.init_from, self.text, self.vectors)
        if self.train.select_by == "bleu" and self.validation.bleu_sentences == 0:
            raise ValueError('train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.')
        if getattr(self.model, "embeddings", None) == "shared" and self.text.vocabularies == "separate":
            raise ValueError(
                'model.embeddings: "shared" needs one vocabulary for both languages; say text.vocabularies=shared, '
                'or model.embeddings="target".'
            )
        return self


class TranslateSettings(PairRunSettings[M], Generic[M]):
    """Everything about the run of a translator that says one token after the other."""

    objective: ObjectiveSettings = ObjectiveSettings()
    decode: DecodeSettings = DecodeSettings()


class MaskedTranslateSettings(PairRunSettings[M], Generic[M]):
    """Everything about the run of a translator that fills in masked words."""

    objective: MaskedTranslationObjectiveSettings = MaskedTranslationObjectiveSettings()
    decode: MaskPredictDecodeSettings = MaskPredictDecodeSettings()


def translate_settings(model: type[ModelSettings]) -> type[Settings]:
    """Return the settings of a translation run for a model of some family."""
    if issubclass(model, MaskPredictSettings):
        return MaskedTranslateSettings[model]  # type: ignore[valid-type]
    return TranslateSettings[model]  # type: ignore[valid-type]

"""A run of a language model as one frozen value."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.decoding.settings import TextDecoding
from regard.objectives.settings import LanguageObjectiveSettings
from regard.tasks.settings import EmbeddingInitSettings, M, check_embedding_init, check_tokenizer_settings
from regard.tasks.text.settings import TextRunSettings


class LanguageSettings(TextRunSettings[M], Generic[M]):
    """Everything about the run of a language model; `model` takes the settings of its family."""

    task: Literal["language-model"] = "language-model"
    window: int | None = Field(None, ge=2)
    """Context window in tokens (default: the model's maximum, or 256 where it has none)."""
    objective: LanguageObjectiveSettings = LanguageObjectiveSettings()
    vectors: EmbeddingInitSettings = EmbeddingInitSettings()
    generate: TextDecoding = TextDecoding()

    @model_validator(mode="after")
    def _parts_fit(self) -> "LanguageSettings[M]":
        check_embedding_init(self.init_from, self.vectors)
        check_tokenizer_settings(self.init_from, self.text)
        return self

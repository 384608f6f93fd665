"""A run of a language model as one frozen value."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.data.settings.text import LanguageData
from regard.decoding.settings import TextDecoding
from regard.objectives.settings import LanguageObjectiveSettings
from regard.tasks.settings import EmbeddingInitSettings, M, check_embedding_init, check_tokenizer_settings
from regard.tasks.text.settings import TextRunSettings


class LanguageSettings(TextRunSettings[M], Generic[M]):
    """Everything about the run of a language model; `model` takes the settings of its family."""

    task: Literal["language-model"] = "language-model"
    data: LanguageData
    chat_template: str | None = Field(None, min_length=1)
    """Template of conversations in Jinja, as Hugging Face writes it: a loop over messages, conditions and texts
    (default: the pretrained model's, or one with the role of each message on a line of its own)."""
    window: int | None = Field(None, ge=2)
    """Context window in tokens (default: the model's maximum, or 256 where it has none)."""
    objective: LanguageObjectiveSettings = LanguageObjectiveSettings()
    vectors: EmbeddingInitSettings = EmbeddingInitSettings()
    generate: TextDecoding = TextDecoding()

    @model_validator(mode="after")
    def _parts_fit(self) -> "LanguageSettings[M]":
        check_embedding_init(self.init_from, self.vectors)
        check_tokenizer_settings(self.init_from, self.text)
        if self.chat_template is not None and self.data.train.path is None:
            raise ValueError("chat_template: it is for prompts with completions (data.train.path); leave it out.")
        return self

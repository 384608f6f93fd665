"""Facts in the checkpoint of a language model."""

from typing import Any

from pydantic import Field

from regard.checkpoint.facts import TaskFacts
from regard.checkpoint.records import Size


class LanguageFacts(TaskFacts):
    """Facts of a language model's checkpoint."""

    generate: dict[str, Any] = Field(default_factory=dict)
    window: Size | None = None
    chat_template: str | None = None
    """The template of conversations, as Hugging Face writes it; None: the model was trained on running text."""

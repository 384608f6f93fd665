"""Settings of the task `answer`."""

from typing import Generic, Literal

from pydantic import Field

from regard.data.settings.examples import ExampleData, QuestionSource
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class AnswerSettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a question-answering model."""

    task: Literal["answer"] = "answer"
    data: ExampleData[QuestionSource]
    max_length: int | None = Field(384, ge=32)
    """Maximum length of a window in tokens, the question included."""
    stride: int = Field(128, ge=1)
    """Tokens between the starts of two windows of a text longer than one."""
    max_answer_tokens: int = Field(30, ge=1)
    """Maximum length of an answer in tokens."""

"""The table of tasks that fine-tune: the shape of each."""

from typing import Any

from regard.data.settings.examples import ChoiceSource, ExampleSource, LabelSource, QuestionSource, TagSource
from regard.tasks.answer.task import QuestionShape
from regard.tasks.choose.task import ChoiceShape
from regard.tasks.classify.task import LabelShape, NumberShape
from regard.tasks.finetune.base import HeadTask
from regard.tasks.tag.task import TagShape

SHAPES: dict[str, HeadTask[Any]] = {
    "answer": QuestionShape(),
    "choose": ChoiceShape(),
    "classify": LabelShape(),
    "regress": NumberShape(),
    "tag": TagShape(),
}
SOURCES: dict[str, type[ExampleSource]] = {
    "answer": QuestionSource,
    "choose": ChoiceSource,
    "classify": LabelSource,
    "regress": LabelSource,
    "tag": TagSource,
}
"""What says where the examples of a task are."""

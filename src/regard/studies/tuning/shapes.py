"""The table of tasks that fine-tune: the shape of each."""

from typing import Any

from regard.data.label_settings import ChoiceSource, ExampleSource, LabelSource, QuestionSource, TagSource
from regard.studies.tuning.choices import ChoiceShape
from regard.studies.tuning.questions import QuestionShape
from regard.studies.tuning.shape import Shape
from regard.studies.tuning.tags import TagShape
from regard.studies.tuning.texts import LabelShape, NumberShape

SHAPES: dict[str, Shape[Any]] = {
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

"""Facts in the checkpoint of a question-answering model."""

from regard.checkpoint.facts import Number
from regard.checkpoint.records import Size
from regard.tasks.finetune.records import HeadFacts


class AnswerFacts(HeadFacts):
    """What a question-answering model's checkpoint stores beside the model."""

    stride: Size
    max_answer_tokens: Size
    has_unanswerable: bool
    threshold: Number = 0.0

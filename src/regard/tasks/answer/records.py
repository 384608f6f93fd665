"""Facts in the checkpoint of a question-answering model."""

from regard.checkpoint.facts import Number
from regard.checkpoint.records import Size
from regard.tasks.finetune.records import HeadFacts


class AnswerFacts(HeadFacts):
    """Facts of a question-answering model: windows, span search and the threshold of no answer."""

    stride: Size
    max_answer_tokens: Size
    has_unanswerable: bool
    threshold: Number = 0.0

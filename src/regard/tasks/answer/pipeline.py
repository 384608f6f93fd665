"""Question-answering pipeline: the span of a text that answers a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from regard.data.encoding.question_windows import encode_questions
from regard.data.sources.squad import QuestionRow
from regard.errors import ConfigError
from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.answer.records import AnswerFacts
from regard.tasks.answer.span_search import CANDIDATES, SpanCandidates, search_answers
from regard.tasks.finetune.pipeline import HeadPipeline, check_texts


@dataclass(frozen=True)
class AnswerSpan:
    """A span of a text (empty: no answer), its character offsets, and its probability among the candidates."""

    text: str
    begin: int
    end: int
    probability: float


@dataclass(frozen=True)
class Answer:
    """The best answer to a question, and the next best."""

    question: str
    answer: AnswerSpan
    others: tuple[AnswerSpan, ...]
    null_score_gap: float
    """Score of no answer minus score of the best span."""

    @property
    def text(self) -> str:
        """The text of the best answer; empty: no answer."""
        return self.answer.text


class QuestionAnswerer(HeadPipeline):
    """Answers questions about texts."""

    @property
    def has_unanswerable(self) -> bool:
        """True if the training set has unanswerable questions."""
        return AnswerFacts.read(self.bundle).has_unanswerable

    @property
    def threshold(self) -> float:
        """The largest null_score_gap with which an answer is given."""
        return AnswerFacts.read(self.bundle).threshold

    @overload
    def __call__(
        self,
        question: str,
        context: str,
        *,
        count: int = 1,
        threshold: float | None = None,
        progress: Progress = SILENT,
    ) -> Answer: ...
    @overload
    def __call__(
        self,
        question: Sequence[tuple[str, str]],
        context: None = None,
        *,
        count: int = 1,
        threshold: float | None = None,
        progress: Progress = SILENT,
    ) -> list[Answer]: ...
    def __call__(
        self,
        question: str | Sequence[tuple[str, str]],
        context: str | None = None,
        *,
        count: int = 1,
        threshold: float | None = None,
        progress: Progress = SILENT,
    ) -> Answer | list[Answer]:
        """Answer one question about a text, or each of a list of (question, text), in order.

        `count` answers are returned. A model trained with unanswerable questions gives no answer if the
        null_score_gap exceeds the `threshold` (default: the best on the validation set).
        """
        if threshold is not None and not self.has_unanswerable:
            raise ConfigError("threshold: this model was trained without unanswerable questions; leave it out.")
        limit = self.threshold if threshold is None else threshold
        if isinstance(question, str):
            return self._answer([(question, context or "")], count, limit, progress)[0]
        return self._answer(question, count, limit, progress)

    def _answer(
        self, given: Sequence[tuple[str, str]], count: int, threshold: float, progress: Progress
    ) -> list[Answer]:
        for line, texts in enumerate(given, start=1):
            check_texts(texts, f"question {line:,}")
        rows = [QuestionRow(str(line), question, context, ()) for line, (question, context) in enumerate(given)]
        facts = AnswerFacts.read(self.bundle)
        encoded = encode_questions(rows, self.tokenizer, self.template, self.max_length, facts.stride, progress)
        scores = self._scores(encoded, progress)
        candidates = search_answers(encoded, scores, len(rows), facts.max_answer_tokens, max(count, CANDIDATES))
        limit = threshold if facts.has_unanswerable else None
        return [
            build_answer(each.question, each.context, one, limit, count)
            for each, one in zip(rows, candidates, strict=True)
        ]


def build_answer(
    question: str, context: str, candidates: SpanCandidates, threshold: float | None, count: int = 1
) -> Answer:
    """Return the best of candidate spans, or no answer above the threshold; None: always an answer."""
    scores = [each.score for each in candidates.spans] + ([] if threshold is None else [candidates.null_score])
    probabilities = softmax(np.array(scores)).tolist() if scores else []
    answers = [
        AnswerSpan(context[each.begin : each.end], each.begin, each.end, probability)
        for each, probability in zip(candidates.spans, probabilities)
    ]
    if threshold is not None or not answers:
        no_answer = AnswerSpan("", 0, 0, probabilities[-1] if probabilities else 1.0)
        has_none = not answers or candidates.null_score_gap > (threshold or 0.0)
        answers.insert(0 if has_none else _rank(answers, no_answer), no_answer)
    return Answer(question, answers[0], tuple(answers[1:count]), candidates.null_score_gap)


def _rank(answers: Sequence[AnswerSpan], other: AnswerSpan) -> int:
    """Return the rank of an answer that is not the best."""
    return max(1, sum(each.probability >= other.probability for each in answers))

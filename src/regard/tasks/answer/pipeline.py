"""Question-answering pipeline: the span of a text that answers a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from regard.config.schema import Doc
from regard.data.settings.examples import QuestionSource
from regard.data.sources.squad import QuestionRow, question_columns, read_questions
from regard.data.sources.tables import read_rows
from regard.errors import ConfigError
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import softmax
from regard.pipelines.inputs import check_text
from regard.pipelines.text_tables import TextTable, with_texts
from regard.progress import SILENT, Progress
from regard.tasks.answer.records import AnswerFacts
from regard.tasks.finetune.pipeline import HeadPipeline

if TYPE_CHECKING:
    from regard.data.encoding.question_windows import EncodedQuestions
    from regard.tasks.answer.span_search import SpanCandidates


@dataclass(frozen=True)
class QuestionAndContext:
    """A question, and the text that it is about."""

    question: Annotated[str, Doc("The question.")]
    context: Annotated[str, Doc("The text that it is about.")]
    id: Annotated[str | None, Doc("Its name in a file.")] = None


class AnswerOptions(Options):
    """Options of question answering."""

    count: int = Field(1, ge=1)
    """Answers per question, best first."""
    threshold: float | None = None
    """Largest null_score_gap with which an answer is given (default: the best on the validation set)."""


@dataclass(frozen=True)
class AnswerSpan:
    """A span of a text (empty: no answer), its character offsets, and its probability among the candidates."""

    text: str
    begin: int
    end: int
    probability: float


@dataclass(frozen=True)
class Answer(Result):
    """The best answer to a question, and the next best."""

    row: QuestionAndContext
    best: Annotated[AnswerSpan, Doc("The best answer.")]
    others: Annotated[tuple[AnswerSpan, ...], Doc("The next best answers.")]
    null_score_gap: Annotated[float, Doc("Score of no answer minus score of the best span.")]

    columns = ("answer", "probability")

    @property
    def answer(self) -> str:
        """The text of the best answer; empty: no answer."""
        return self.best.text

    @property
    def text(self) -> str:
        """The text of the best answer; empty: no answer."""
        return self.best.text

    @property
    def probability(self) -> float:
        """The probability of the best answer."""
        return self.best.probability

    def lines(self) -> list[str]:
        """Return the answers, best first, each after its probability; the name of a question comes first."""
        name = [] if self.row.id is None else [self.row.id]
        return [
            "\t".join([*name, f"{each.probability:.4f}", " ".join(each.text.split())])
            for each in (self.best, *self.others)
        ]

    def to_dict(self) -> Plain:
        """Return the question and its answers, best first; the context is left out."""
        answers = [vars(each) for each in (self.best, *self.others)]
        name = {} if self.row.id is None else {"id": self.row.id}
        return name | {"question": self.row.question, "answers": answers, "null_score_gap": self.null_score_gap}


class QuestionAnswerer(HeadPipeline[QuestionAndContext, AnswerOptions, Answer]):
    """Answers questions about texts."""

    row = QuestionAndContext
    inputs = ("question", "context")
    options_class = AnswerOptions

    @property
    def has_unanswerable(self) -> bool:
        """True if the training set has unanswerable questions."""
        return AnswerFacts.read(self.bundle).has_unanswerable

    @property
    def threshold(self) -> float:
        """The largest null_score_gap with which an answer is given."""
        return AnswerFacts.read(self.bundle).threshold

    def options(self, given: AnswerOptions | None = None, /, **overrides: object) -> AnswerOptions:
        """Return the options of a call; a threshold is for models trained with unanswerable questions."""
        options = super().options(given, **overrides)
        if options.threshold is not None and not self.has_unanswerable:
            raise ConfigError("threshold: this model was trained without unanswerable questions; leave it out.")
        return options

    def check(self, row: QuestionAndContext, options: AnswerOptions, where: str) -> None:
        """Refuse what is not text."""
        check_text(row.question, where)
        check_text(row.context, where)

    def predict(
        self, rows: Sequence[QuestionAndContext], options: AnswerOptions, progress: Progress = SILENT
    ) -> list[Answer]:
        """Return the answer to each question: none where null_score_gap exceeds the threshold."""
        from regard.tasks.answer.span_search import CANDIDATES, search_answers

        facts, threshold = AnswerFacts.read(self.bundle), options.threshold
        encoded = self.encode(rows, progress)
        scores = self._scores(encoded, progress)
        count = max(options.count, CANDIDATES)
        candidates = search_answers(encoded, scores, len(rows), facts.max_answer_tokens, count)
        limit = (facts.threshold if threshold is None else threshold) if facts.has_unanswerable else None
        return [build_answer(row, each, limit, options.count) for row, each in zip(rows, candidates, strict=True)]

    def encode(self, rows: Sequence[QuestionAndContext], progress: Progress = SILENT) -> "EncodedQuestions":
        """Return questions with the windows of their contexts as ids."""
        from regard.data.encoding.question_windows import encode_questions

        questions = [QuestionRow(str(number), row.question, row.context, ()) for number, row in enumerate(rows)]
        stride = AnswerFacts.read(self.bundle).stride
        return encode_questions(questions, self.tokenizer, self.template, self.max_length, stride, progress)

    def read_rows(self, path: str, columns: Mapping[str, str | int], progress: Progress) -> list[QuestionAndContext]:
        """Return the questions of a file in SQuAD's format."""
        questions = read_questions(QuestionSource(path=path), progress, has_answers=False)
        return [QuestionAndContext(each.question, each.context, each.name) for each in questions]

    def read_table(
        self, path: str, columns: Mapping[str, str | int], progress: Progress
    ) -> tuple[TextTable, list[QuestionAndContext | None]]:
        """Return a table, and the question and the context of each of its rows; None where one is empty."""
        rows = read_rows(path, None, "train", lambda row: True)
        names = [rows.column(columns[name]) if name in columns else None for name in self.inputs]
        guessed = question_columns(rows.names, path) if None in names else ("", "")
        table = with_texts(rows, [name or guess for name, guess in zip(names, guessed, strict=True)], progress)
        return table, [QuestionAndContext(*texts) if all(texts) else None for texts in table.texts]


def build_answer(
    row: QuestionAndContext, candidates: "SpanCandidates", threshold: float | None, count: int = 1
) -> Answer:
    """Return the best of candidate spans, or no answer above the threshold; None: always an answer."""
    scores = [each.score for each in candidates.spans] + ([] if threshold is None else [candidates.null_score])
    probabilities = softmax(np.array(scores)).tolist() if scores else []
    answers = [
        AnswerSpan(row.context[each.begin : each.end], each.begin, each.end, probability)
        for each, probability in zip(candidates.spans, probabilities)
    ]
    if threshold is not None or not answers:
        no_answer = AnswerSpan("", 0, 0, probabilities[-1] if probabilities else 1.0)
        has_none = not answers or candidates.null_score_gap > (threshold or 0.0)
        answers.insert(0 if has_none else _rank(answers, no_answer), no_answer)
    return Answer(row, answers[0], tuple(answers[1:count]), candidates.null_score_gap)


def _rank(answers: Sequence[AnswerSpan], other: AnswerSpan) -> int:
    """Return the rank of an answer that is not the best."""
    return max(1, sum(each.probability >= other.probability for each in answers))

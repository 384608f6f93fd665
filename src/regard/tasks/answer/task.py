"""Questions whose answers are spans of a text: the task `answer`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.question_windows import EncodedQuestions, encode_questions, usual_answer
from regard.data.settings.examples import QuestionSource
from regard.data.sources.squad import QuestionRow, read_questions
from regard.metrics.bootstrap import Statistic
from regard.metrics.squad import answer_scores, answer_statistics, best_threshold, exact_match
from regard.pipelines.head_scores import Scores, softmax
from regard.progress import SILENT, Progress
from regard.tasks.answer.pipeline import reply
from regard.tasks.answer.span_search import Found, find_answers
from regard.tasks.finetune.base import Answers, Facts, HeadTask, Mistake, ScoreName
from regard.tasks.finetune.pipeline import frame_of

NO_ANSWER = "(no answer)"


class QuestionShape(HeadTask[QuestionRow]):
    """Questions about texts."""

    head = "extractive-qa"
    watched = ("f1", "exact_match")
    scores = (ScoreName("f1", "F1 %", "SQuAD"), ScoreName("exact_match", "exact match %", "SQuAD"))
    what = "question"
    needs = "no question has its answer in its text; mend the answers, or name another file."
    loses = "each of these texts is read in windows"

    def read(
        self, place: QuestionSource, progress: Progress, usual: Facts
    ) -> tuple[list[QuestionRow], dict[str, Any]]:
        """Return the questions of a place; its columns are known by their names."""
        return read_questions(place, progress), {}

    def reason_to_drop(self, example: QuestionRow) -> str | None:
        """Return why a question is of no use: all of them are."""
        return None

    def reason_not_to_learn(self, example: QuestionRow) -> str | None:
        """Return why a question can only be tested on."""
        is_lost = bool(example.answers) and usual_answer(example) is None
        return "with an answer that is not in the text" if is_lost else None

    def texts(self, example: QuestionRow) -> tuple[str, ...]:
        """Return the text and what is asked about it: those of one text stay together."""
        return example.context, example.question

    def answer(self, example: QuestionRow) -> str:
        """Return all right answers."""
        return " | ".join(sorted({" ".join(each.text.split()) for each in example.answers})) or NO_ANSWER

    def counted(self, examples: Sequence[QuestionRow]) -> Counter[str]:
        """Return how many questions have an answer."""
        return Counter("answered" if each.answers else "without an answer" for each in examples)

    def facts(
        self, settings: Any, train: Sequence[QuestionRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return how texts are read, and whether there may be no answer."""
        return {
            "stride": settings.stride,
            "max_answer_tokens": settings.max_answer_tokens,
            "has_unanswerable": any(not each.answers for each in train),
            "threshold": 0.0,
        }

    def outputs(self, facts: Facts) -> int:
        """Return 2: for where an answer begins, and where it ends."""
        return 2

    def encode(
        self, examples: Sequence[QuestionRow], bundle: Bundle, progress: Progress = SILENT
    ) -> EncodedQuestions:
        """Return windows of texts as ids."""
        facts = bundle.facts
        limit, stride = int(facts["max_length"]), int(facts["stride"])
        tokenizer = bundle.tokenizers["tokenizer"]
        return encode_questions(examples, tokenizer, frame_of(bundle), limit, stride, progress)

    def say(
        self, examples: Sequence[QuestionRow], encoded: EncodedQuestions, scores: list[Scores], facts: Facts
    ) -> Answers:
        """Return the best span for each question, or nothing where there may be no answer."""
        found = find_answers(encoded, scores, len(examples), int(facts["max_answer_tokens"]))
        losses = [_surprise(each, label) for each, label in zip(scores, encoded.labels, strict=True)]
        return _given(examples, found, facts, float(np.mean(losses)))

    def tune(self, examples: Sequence[QuestionRow], answers: Answers, facts: dict[str, Any]) -> Answers:
        """Find the best threshold, where there may be no answer."""
        if not facts["has_unanswerable"]:
            return answers
        facts["threshold"] = find_threshold(examples, answers.further)
        return _given(examples, answers.further, facts, answers.loss)

    def figures(self, examples: Sequence[QuestionRow], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return exact match and F1, and the threshold that would be best here."""
        right = [[each.text for each in example.answers] for example in examples]
        scores = asdict(answer_scores(answers.lines, right))
        if not facts["has_unanswerable"]:
            return {name: scores[name] for name in ("f1", "exact_match", "answerable")}
        return scores | {"threshold": facts["threshold"], "best_threshold": find_threshold(examples, answers.further)}

    def statistics(self, examples: Sequence[QuestionRow], lines: Sequence[str], facts: Facts) -> dict[str, Statistic]:
        """Return figures as functions of how often each question counts."""
        return answer_statistics(lines, [[each.text for each in example.answers] for example in examples])

    def decoding(self, facts: Facts) -> dict[str, Any]:
        """Return how answers are looked for."""
        return {name: facts[name] for name in ("max_length", "stride", "max_answer_tokens", "threshold")}

    def is_right(self, example: QuestionRow, line: str) -> bool:
        """Tell whether an answer is exactly one of the right ones."""
        return bool(exact_match(line, [each.text for each in example.answers]))

    def mistake(self, example: QuestionRow, line: str, confidence: float) -> Mistake:
        """Return a wrong answer behind its question."""
        return Mistake([example.question], self.answer(example), line or NO_ANSWER, confidence)


def _given(examples: Sequence[QuestionRow], found: Sequence[Found], facts: Facts, loss: float) -> Answers:
    """Return the answers as they are given."""
    threshold = float(facts["threshold"]) if facts["has_unanswerable"] else None
    given = [reply(each.question, each.context, one, threshold) for each, one in zip(examples, found, strict=True)]
    lines = [" ".join(each.text.split()) for each in given]
    return Answers(lines, [each.answer.probability for each in given], loss, found)


def find_threshold(examples: Sequence[QuestionRow], found: Sequence[Found]) -> float:
    """Return the null_score_gap of no answer up to which it is best to answer all the same."""
    said = [
        each.context[one.spans[0].begin : one.spans[0].end] if one.spans else ""
        for each, one in zip(examples, found, strict=True)
    ]
    margins = [one.null_score_gap if one.spans else 1e9 for one in found]
    return best_threshold(said, [[each.text for each in example.answers] for example in examples], margins)


def _surprise(scores: Scores, label: Any) -> float:
    """Return the mean negative log probability of both ends in a window."""
    tiny = np.finfo(np.float64).tiny
    ends = [softmax(scores[:, side])[label[side]] for side in (0, 1)]
    return float(-np.log(np.maximum(ends, tiny)).mean())

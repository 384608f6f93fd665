"""The task `answer`: extractive question answering."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.examples import QuestionSource
from regard.data.sources.memory import ANSWERS, TEXT
from regard.data.sources.squad import QuestionRow, read_questions
from regard.metrics.bootstrap import Statistic
from regard.metrics.squad import answer_scores, answer_statistics, best_threshold, exact_match
from regard.pipelines.head_scores import Scores, softmax
from regard.progress import SILENT, Progress
from regard.tasks.answer.pipeline import Answer, AnswerOptions, QuestionAndContext, QuestionAnswerer, build_answer
from regard.tasks.answer.records import AnswerFacts
from regard.tasks.answer.settings import AnswerSettings
from regard.tasks.baseline import entropy
from regard.tasks.declarations import InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.finetune.base import Columns, HeadTask, Settings
from regard.tasks.finetune.pipeline import template_of
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.settings import FINE_TUNING_RATES

if TYPE_CHECKING:
    from torch import Tensor

    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.question_windows import EncodedQuestions
    from regard.tasks.answer.span_search import SpanCandidates

NO_ANSWER = "(no answer)"


class AnswerTask(HeadTask[QuestionRow, AnswerFacts, QuestionAnswerer]):
    """Extractive question answering."""

    name, preset, head = "answer", "bert-mini", "extractive-qa"
    wording = Wording(
        "a question-answering model",
        "question-answering models",
        "--data FILE",
        shorten="shorter windows (max_length)",
    )
    rows = ({"question": TEXT, "context": TEXT, "answers": ANSWERS},)
    files = TaskFiles(AnswerFacts, ("encoder",), ("extractive-qa",))
    facts, run_settings, source = AnswerFacts, AnswerSettings, QuestionSource
    metrics = (
        Metric("f1", "F1", is_validated=True),
        Metric("exact_match", "exact match", is_validated=True),
        Metric("answerable_f1", "F1 of answerable questions"),
        Metric("unanswerable_exact_match", "exact match of unanswerable questions"),
        Metric("threshold", "threshold"),
    )
    score_names = (ScoreName("f1", "F1 %", "SQuAD"), ScoreName("exact_match", "exact match %", "SQuAD"))
    operations = (
        Operation(
            "answer",
            "Answer questions about texts.",
            QuestionAndContext,
            ("question", "context"),
            AnswerOptions,
            Answer,
            protocols=("huggingface:question-answering",),
            formats=(".json",),
            shared=("context",),
            details="An empty answer means that the context has none.",
            example='"a question?" "The text that it is about."',
            call='answerer("a question?", "The text.").text',
            variable="answerer",
        ),
    )
    init_from = InitFrom({"encoder": FINE_TUNING_RATES["encoder"]}, has_new_head=True)
    unit = "question"
    no_examples = "no question has its answer in its text; correct the answers, or name another file."
    truncation = "each of these texts is split into windows"

    def read(
        self, source: QuestionSource, progress: Progress, columns: Columns
    ) -> tuple[list[QuestionRow], dict[str, Any]]:
        """Return the questions of a source; its fields have SQuAD's names."""
        return read_questions(source, progress), {}

    def reason_to_drop(self, example: QuestionRow) -> str | None:
        """Return None: no question is dropped."""
        return None

    def reason_not_to_train(self, example: QuestionRow) -> str | None:
        """Return why a question can only be evaluated on: its answer does not occur in the text."""
        from regard.data.encoding.question_windows import majority_answer

        is_lost = bool(example.answers) and majority_answer(example) is None
        return "with an answer that is not in the text" if is_lost else None

    def texts(self, example: QuestionRow) -> tuple[str, ...]:
        """Return the text and the question; the text is first, so that its questions stay in one split."""
        return example.context, example.question

    def target(self, example: QuestionRow) -> str:
        """Return all true answers."""
        return " | ".join(sorted({" ".join(each.text.split()) for each in example.answers})) or NO_ANSWER

    def accepted(self, example: QuestionRow) -> frozenset[str]:
        """Return the true answers, each of which is right."""
        return frozenset(" ".join(each.text.split()) for each in example.answers) or frozenset((NO_ANSWER,))

    def baseline(self, examples: Sequence[QuestionRow], encoded: "EncodedQuestions") -> dict[str, float]:
        """Return the loss of predicting no answer as often as there is none, and all tokens alike otherwise."""
        has_answer = encoded.labels.any(1)
        counts = np.array([len(each) for each in encoded.offsets])
        level = entropy(np.bincount(has_answer.astype(int)))
        return {"loss": level + float((has_answer * np.log(np.maximum(1, counts))).mean())} if len(counts) else {}

    def label_counts(self, examples: Sequence[QuestionRow]) -> Counter[str]:
        """Return the number of answerable and of unanswerable questions."""
        return Counter("answered" if each.answers else "without an answer" for each in examples)

    def learn(
        self, settings: Settings, train: Sequence[QuestionRow], labels: Sequence[str], pretrained: "Bundle | None"
    ) -> dict[str, Any]:
        """Return the settings of windows and span search, and whether questions may be unanswerable."""
        assert isinstance(settings, AnswerSettings)
        return {
            "stride": settings.stride,
            "max_answer_tokens": settings.max_answer_tokens,
            "has_unanswerable": any(not each.answers for each in train),
            "threshold": 0.0,
        }

    def outputs(self, facts: AnswerFacts) -> int:
        """Return 2: start and end scores."""
        return 2

    def losses(self, scores: "Tensor", labels: "Tensor") -> "Tensor":
        """Return the mean cross-entropy of a span's start and end."""
        from regard.objectives.head import span_losses

        return span_losses(scores, labels)

    def encode(
        self, examples: Sequence[QuestionRow], bundle: "Bundle", progress: Progress = SILENT
    ) -> "EncodedQuestions":
        """Return the windows of questions and texts as ids."""
        from regard.data.encoding.question_windows import encode_questions

        facts, tokenizer = self.read_facts(bundle), bundle.tokenizers["tokenizer"]
        return encode_questions(examples, tokenizer, template_of(bundle), facts.max_length, facts.stride, progress)

    def predictions(
        self, examples: Sequence[QuestionRow], encoded: "EncodedQuestions", outputs: list[Scores], facts: AnswerFacts
    ) -> Predictions:
        """Return the best span for each question, or no answer where that is allowed."""
        from regard.tasks.answer.span_search import search_answers

        spans = search_answers(encoded, outputs, len(examples), facts.max_answer_tokens)
        losses = [_span_nll(each, label) for each, label in zip(outputs, encoded.labels, strict=True)]
        return _build(examples, spans, facts, float(np.mean(losses)))

    def calibrate(self, examples: Sequence[QuestionRow], predictions: Predictions, bundle: "Bundle") -> Predictions:
        """Fit the threshold of no answer, where questions may be unanswerable."""
        facts = self.read_facts(bundle)
        if not facts.has_unanswerable:
            return predictions
        threshold = find_threshold(examples, predictions.details)
        bundle.facts.update(threshold=threshold)
        fitted = facts.model_copy(update={"threshold": threshold})
        return _build(examples, predictions.details, fitted, predictions.loss)

    def compute_metrics(
        self, examples: Sequence[QuestionRow], predictions: Predictions, facts: AnswerFacts
    ) -> dict[str, Any]:
        """Return exact match and F1, and the best threshold on this set."""
        answers = [[each.text for each in example.answers] for example in examples]
        scores = asdict(answer_scores(predictions.lines, answers))
        if not facts.has_unanswerable:
            return {name: scores[name] for name in ("f1", "exact_match", "answerable")}
        best = find_threshold(examples, predictions.details)
        return scores | {"threshold": facts.threshold, "best_threshold": best}

    def statistics_of(
        self, examples: Sequence[QuestionRow], lines: Sequence[str], facts: AnswerFacts
    ) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each question counts."""
        return answer_statistics(lines, [[each.text for each in example.answers] for example in examples])

    def decoding(self, facts: AnswerFacts) -> dict[str, Any]:
        """Return the settings of the span search."""
        return {name: getattr(facts, name) for name in ("max_length", "stride", "max_answer_tokens", "threshold")}

    def is_correct(self, example: QuestionRow, line: str) -> bool:
        """Return whether an answer is exactly one of the true ones."""
        return bool(exact_match(line, [each.text for each in example.answers]))

    def error(self, example: QuestionRow, line: str, confidence: float) -> ErrorExample:
        """Return a wrong answer with its question."""
        return ErrorExample([example.question], self.target(example), line or NO_ANSWER, confidence)

    def constant(self, outputs: Sequence[str]) -> str:
        """Return the sentence on questions that are all left without an answer; empty if some have one."""
        is_constant = len(outputs) > 1 and not any(outputs)
        return f"none of {len(outputs):,} questions gets an answer" if is_constant else ""

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> QuestionAnswerer:
        """Return a question answerer."""
        return QuestionAnswerer(bundle)


def _build(
    examples: Sequence[QuestionRow], spans: "Sequence[SpanCandidates]", facts: AnswerFacts, loss: float
) -> Predictions:
    """Return the predictions for candidate spans with the threshold."""
    threshold = facts.threshold if facts.has_unanswerable else None
    answers = [
        build_answer(QuestionAndContext(each.question, each.context), one, threshold)
        for each, one in zip(examples, spans, strict=True)
    ]
    lines = [" ".join(each.text.split()) for each in answers]
    return Predictions(lines, [each.probability for each in answers], loss, spans)


def find_threshold(examples: Sequence[QuestionRow], spans: "Sequence[SpanCandidates]") -> float:
    """Return the threshold of the null_score_gap with the highest F1."""
    texts = [
        each.context[one.spans[0].begin : one.spans[0].end] if one.spans else ""
        for each, one in zip(examples, spans, strict=True)
    ]
    gaps = [one.null_score_gap if one.spans else 1e9 for one in spans]
    return best_threshold(texts, [[each.text for each in example.answers] for example in examples], gaps)


def _span_nll(scores: Scores, label: Sequence[int]) -> float:
    """Return the mean negative log-likelihood of the first and last token in a window."""
    tiny = np.finfo(np.float64).tiny
    ends = [softmax(scores[:, side])[label[side]] for side in (0, 1)]
    return float(-np.log(np.maximum(ends, tiny)).mean())


TASK = AnswerTask()

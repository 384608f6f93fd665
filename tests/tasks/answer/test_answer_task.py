"""The task answer: targets, the threshold of no answer, and metrics."""

import numpy as np
import pytest

from head_bundles import head_bundle
from regard.data.sources.squad import GoldAnswer, QuestionRow
from regard.tasks.answer.span_search import SpanCandidate, SpanCandidates
from regard.tasks.answer.task import NO_ANSWER, TASK, find_threshold
from regard.tasks.finetune.predictions import Predictions

ANSWERED = QuestionRow("1", "who?", "anna sees ben", (GoldAnswer("anna", 0), GoldAnswer("anna  sees", 0)))
LOST = QuestionRow("2", "who?", "anna sees ben", (GoldAnswer("carla", -1),))
UNANSWERABLE = QuestionRow("3", "where?", "anna sees ben", ())
ROWS = [ANSWERED, UNANSWERABLE]


def candidates(best: float, null: float) -> SpanCandidates:
    return SpanCandidates((SpanCandidate(0, 4, best),), null)


def test_an_answer_that_does_not_occur_can_only_be_evaluated_on():
    assert TASK.reason_not_to_train(LOST) == "with an answer that is not in the text"
    assert TASK.reason_not_to_train(ANSWERED) is None is TASK.reason_not_to_train(UNANSWERABLE)
    assert all(TASK.reason_to_drop(each) is None for each in (ANSWERED, LOST, UNANSWERABLE))


def test_the_target_lists_all_answers():
    assert TASK.target(ANSWERED) == "anna | anna sees" and TASK.target(UNANSWERABLE) == NO_ANSWER
    assert TASK.label_counts([*ROWS, LOST]) == {"answered": 2, "without an answer": 1}


def test_calibration_finds_the_threshold_that_separates_unanswerable_questions():
    bundle = head_bundle("answer")
    spans = [candidates(5.0, 7.0), candidates(5.0, 9.0)]  # gaps 2 and 4
    uncalibrated = Predictions(["", ""], [1.0, 1.0], 0.5, spans)
    calibrated = TASK.calibrate(ROWS, uncalibrated, bundle)
    assert calibrated.lines == ["anna", ""] and calibrated.loss == 0.5
    assert 2.0 <= TASK.read_facts(bundle).threshold < 4.0 and find_threshold(ROWS, spans) == bundle.facts["threshold"]
    without = head_bundle("answer", has_unanswerable=False)
    assert TASK.calibrate(ROWS, uncalibrated, without) is uncalibrated and without.facts["threshold"] == 0.0


def test_metrics_distinguish_answerable_questions_only_where_there_are_others():
    spans = [candidates(5.0, 7.0), candidates(5.0, 9.0)]
    predictions = Predictions(["anna", "ben"], [1.0, 1.0], 0.0, spans)
    metrics = TASK.compute_metrics(ROWS, predictions, TASK.read_facts(head_bundle("answer", threshold=1.0)))
    assert metrics["exact_match"] == 0.5 and metrics["answerable_f1"] == 1.0 and metrics["threshold"] == 1.0
    assert metrics["unanswerable_exact_match"] == 0.0 and 2.0 <= metrics["best_threshold"] < 4.0
    facts = TASK.read_facts(head_bundle("answer", has_unanswerable=False))
    assert set(TASK.compute_metrics(ROWS[:1], Predictions(["anna"], [1.0], 0.0, spans[:1]), facts)) == {
        "f1",
        "exact_match",
        "answerable",
    }
    for name, statistic in TASK.statistics_of(ROWS, predictions.lines, facts).items():
        assert statistic(np.ones(2)) == pytest.approx(metrics[name])


def test_predictions_are_the_best_spans_of_all_windows():
    bundle = head_bundle("answer", has_unanswerable=False)
    encoded = TASK.encode([ANSWERED], bundle)
    outputs = [np.full((each, 2), -5.0) for each in [1 + len(encoded.offsets[0])]]
    outputs[0][1, 0] = outputs[0][len(encoded.offsets[0]), 1] = 5.0
    predictions = TASK.predictions([ANSWERED], encoded, outputs, TASK.read_facts(bundle))
    wide = TASK.read_facts(head_bundle("answer", has_unanswerable=False, max_answer_tokens=30))
    assert TASK.predictions([ANSWERED], encoded, outputs, wide).lines == ["anna sees ben"] != predictions.lines
    assert predictions.loss > 0


def test_errors_show_the_question_and_no_answer_as_such():
    error = TASK.error(ANSWERED, "", 0.5)
    assert (error.texts, error.predicted) == (["who?"], NO_ANSWER)
    assert TASK.is_correct(ANSWERED, "Anna") and not TASK.is_correct(ANSWERED, "ben")
    assert TASK.decoding(TASK.read_facts(head_bundle("answer"))) == {
        "max_length": 40,
        "stride": 8,
        "max_answer_tokens": 5,
        "threshold": 0.0,
    }

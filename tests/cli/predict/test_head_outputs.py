"""Output of the verbs of fine-tuned models: the lines of their results, and files of their own formats."""

import json

import pytest

from regard.pipelines.inputs import TextRow
from regard.progress import SILENT
from regard.tasks.answer.pipeline import Answer, AnswerSpan, QuestionAndContext, QuestionAnswerer
from regard.tasks.choose.pipeline import ChoiceResult, ChoiceRow
from regard.tasks.classify.pipeline import Classification
from regard.tasks.regress.pipeline import Regression
from regard.tasks.tag.pipeline import TaggedSpan, Tagger, Tagging, WordsRow

SPANS = tuple(AnswerSpan("the  key"[:end], 0, end, 1 / end) for end in (8, 3))
QUESTION = QuestionAndContext("what?", "the  key")
RESULTS = [
    (Classification(TextRow("aa"), "long", {"long": 0.7, "short": 0.3}, False), ["long\t0.7000"]),
    (Regression(TextRow("a"), 1 / 3, False), ["0.3333"]),
    (ChoiceResult(ChoiceRow("c", ["a", "b  b"]), 1, (0.25, 0.75)), ["1\t0.7500\tb b"]),
    (
        Tagging(WordsRow("ab"), ("a", "b"), ("O", "B-PER"), (1.0, 0.5), (TaggedSpan("b", "PER", 1, 2, 0.5),)),
        ["a\tO", "b\tB-PER", ""],
    ),
    (Answer(QUESTION, SPANS[0], SPANS[1:], -1.0), ["0.1250\tthe key", "0.3333\tthe"]),
    (Answer(QuestionAndContext("what?", "the  key", "x7"), SPANS[0], (), -1.0), ["x7\t0.1250\tthe key"]),
]


@pytest.mark.parametrize(("result", "lines"), RESULTS)
def test_a_result_is_lines(result, lines):
    assert result.lines() == lines


def test_json_has_the_row_and_the_result():
    records = [json.loads(json.dumps(result.to_dict())) for result, _ in RESULTS]
    assert records[0]["label"] == "long" and records[0]["probability"] == 0.7
    assert records[1] == {"text": "a", "number": 1 / 3, "is_truncated": False}
    assert (records[2]["context"], records[2]["choice"], records[2]["probability"]) == ("c", "b  b", 0.75)
    assert records[3]["spans"] == [{"text": "b", "kind": "PER", "begin": 1, "end": 2, "probability": 0.5}]
    assert [answer["text"] for answer in records[4]["answers"]] == ["the  key", "the"]
    assert "id" not in records[4] and list(records[5]) == ["id", "question", "answers", "null_score_gap"]


def test_words_of_a_conll_file_are_rows_as_they_are(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("0 New-York\n1 is\n\n0 old\n")
    rows = Tagger.read_rows(None, str(path), {"words": 1}, SILENT)
    assert [tuple(row.words) for row in rows] == [("New-York", "is"), ("old",)]


def test_questions_of_a_squad_file_keep_their_ids(tmp_path):
    asked = {"id": "x7", "question": "what?", "answers": []}
    (tmp_path / "a.json").write_text(json.dumps({"data": [{"paragraphs": [{"context": "key", "qas": [asked]}]}]}))
    rows = QuestionAnswerer.read_rows(None, str(tmp_path / "a.json"), {}, SILENT)
    assert rows == [QuestionAndContext("what?", "key", "x7")]

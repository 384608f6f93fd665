"""Questions about texts out of files."""

import json

import pytest

from labeled import Telling
from regard.data.settings.examples import QuestionSource
from regard.data.sources.squad import GoldAnswer, read_questions
from regard.errors import DataError

CONTEXT = "Anna lives in Rome. Rome is old."


def squad(*questions):
    return json.dumps(
        {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]}
    )


def read(tmp_path, text, name="a.json", has_answers=True, **settings):
    (tmp_path / name).write_text(text, encoding="utf-8")
    telling = Telling()
    return read_questions(QuestionSource(path=str(tmp_path / name), **settings), telling, has_answers), telling


def test_questions_of_both_versions_of_squad(tmp_path):
    asked = {"id": "1", "question": "Where?", "answers": [{"text": "Rome", "answer_start": 14}]}
    nothing = {
        "id": "2",
        "question": "When?",
        "is_impossible": True,
        "answers": [],
        "plausible_answers": [{"text": "old", "answer_start": 28}],
    }
    found, telling = read(tmp_path, squad(asked, nothing))
    assert [(each.name, each.question, each.answers) for each in found] == [
        ("1", "Where?", (GoldAnswer("Rome", 14),)),
        ("2", "When?", ()),
    ]
    assert found[0].context == CONTEXT
    assert "2 questions about 1 texts, 1 of them without an answer" in telling.said[0]


def test_an_answer_is_found_where_it_really_is(tmp_path):
    answers = [{"text": "Rome", "answer_start": 21}, {"text": "Rome", "answer_start": 15}, {"text": "Rome"}]
    found, telling = read(tmp_path, squad({"id": "1", "question": "Where?", "answers": answers}))
    assert [each.start for each in found[0].answers] == [20, 14, 14]
    assert not telling.warned


def test_answers_that_are_nowhere_are_said(tmp_path):
    found, telling = read(
        tmp_path, squad({"id": "1", "question": "Where?", "answers": [{"text": "Paris", "answer_start": 3}]})
    )
    assert found[0].answers == (GoldAnswer("Paris", -1),)
    assert 'the answers of 1 questions do not occur in their texts, such as "Paris"' in telling.warned[0]


def test_json_lines_as_datasets_have_them(tmp_path):
    rows = [
        {"id": "x", "context": CONTEXT, "question": "Where?", "answers": {"text": ["Rome"], "answer_start": [14]}},
        {"id": "y", "context": CONTEXT, "question": "When?", "answers": {"text": [], "answer_start": []}},
    ]
    found, _ = read(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "a.jsonl")
    assert [each.answers for each in found] == [(GoldAnswer("Rome", 14),), ()]


def test_a_table_with_one_answer_each(tmp_path):
    text = f'context,question,answer\n"{CONTEXT}",Who?,Anna\n"{CONTEXT}",When?,\n'
    found, _ = read(tmp_path, text, "a.csv")
    assert [each.answers for each in found] == [(GoldAnswer("Anna", 0),), ()]


def test_questions_alone_are_enough_to_be_answered(tmp_path):
    found, _ = read(tmp_path, f'context,question\n"{CONTEXT}",Who?\n', "a.csv", has_answers=False)
    assert found[0].question == "Who?" and found[0].answers == ()


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("{}", "a.json", "this is not SQuAD's JSON"),
        ("nothing", "a.json", "this is not SQuAD's JSON (line 1: Expecting value); give"),
        ('{"data": [{"title": 1, "paragraphs": [{}]}]}', "a.json", 'article 1 has no list "qas"); give'),
        (squad(), "a.json", "there are no questions in it"),
        (squad({"id": "7", "question": " ", "answers": []}), "a.json", "question 7 has no question"),
        (squad({"id": "7", "question": "Who?"}), "a.json", "question 7 has no answers"),
        ("context,answer\nx,y\n", "a.csv", "there is no column question (context, answer)"),
        ("context,question\nx,y\n", "a.csv", "there is no column answers"),
    ],
)
def test_mistakes_in_files_are_named(tmp_path, text, name, words):
    with pytest.raises(DataError) as raised:
        read(tmp_path, text, name)
    assert words in str(raised.value) and name in str(raised.value)


def test_stories_of_the_miniature_world_are_asked_about():
    found = read_questions(QuestionSource(path="miniature:valid", max_rows=30))
    assert found == read_questions(QuestionSource(path="miniature:questions/valid", max_rows=30))
    assert len({each.name for each in found}) == 30 and any(not each.answers for each in found)
    for each in found:
        for text, start in each.answers:
            assert each.context[start : start + len(text)] == text


def test_other_names_of_columns_and_a_list_in_json(tmp_path):
    rows = [{"query": "Where?", "passage": CONTEXT, "answer": "Rome"}]
    for text, name in (
        (json.dumps(rows), "a.json"),
        (json.dumps({"data": rows}), "a.json"),
        (json.dumps(rows[0]), "a.jsonl"),
    ):
        found, _ = read(tmp_path, text, name)
        assert [(each.question, each.context, each.answers) for each in found] == [
            ("Where?", CONTEXT, (GoldAnswer("Rome", 14),))
        ]

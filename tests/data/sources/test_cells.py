"""Whatever stands in a cell or a field: it is read as it is meant, or refused in one sentence that says where."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.settings.examples import ChoiceSource, LabelSource, QuestionSource, TagSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.data.sources.cells import integer_in, parse_list
from regard.data.sources.conll import read_tagged
from regard.data.sources.labeled import read_labeled
from regard.data.sources.multiple_choice import read_choices
from regard.data.sources.pairs import read_pairs
from regard.data.sources.squad import GoldAnswer, read_questions
from regard.data.sources.tables import json_rows
from regard.data.sources.text_files import read_documents
from regard.errors import DataError, RegardError
from regard.pipelines.text_tables import read_text_table

DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5000
ODD = ["²", "①", "1_0", "", " ", "nan", "-1", "1e400", "[", "{}", "\x00", "٣", '["a"', "['a' 'b']", "[-" + "-" * 9000]


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def readers(path):
    """Return every reader of tables of examples, on one file."""
    return [
        lambda: read_labeled(LabelSource(path=path)),
        lambda: read_labeled(LabelSource(path=path), is_number=True),
        lambda: read_choices(ChoiceSource(path=path)),
        lambda: read_questions(QuestionSource(path=path)),
        lambda: read_tagged(TagSource(path=path)),
        lambda: read_pairs(PairSource(path=path)),
    ]


def refusals(path):
    """Return what each reader has to say about a file; anything but a sentence is let through to the test."""
    found = []
    for read in readers(path):
        try:
            read()
        except RegardError as error:
            assert "\n" not in str(error)
            found.append(str(error))
    return found


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=6)
    | st.sampled_from([*ODD, 10**400, "\ud800", "Berlin is.", 0, 1, "O", "B-PER"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "label"]), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = [
    "text",
    "label",
    "context",
    "question",
    "answers",
    "answer_start",
    "id",
    "choices",
    "tokens",
    "tags",
    "score",
]
rows = st.dictionaries(st.sampled_from(NAMES), values, max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.lists(rows, min_size=1, max_size=4))
def test_records_of_any_values_are_read_or_refused(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("odd") / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refusals(str(path))
    path.with_suffix(".json").write_text(json.dumps(rows))
    refusals(str(path.with_suffix(".json")))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*ODD, "a b c", "O", "1"]), max_size=3), min_size=1, max_size=4))
def test_cells_of_any_text_are_read_or_refused(tmp_path_factory, cells):
    for header in ("text,label,score", "context,question,answer", "tokens,tags,id", "context,choices,label"):
        path = tmp_path_factory.mktemp("odd") / "a.csv"
        path.write_text("\n".join([header, *(",".join(f'"{cell}"' for cell in row) for row in cells)]))
        refusals(str(path))


SQUAD = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "paragraphs", "qas", "context", "question"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(SQUAD)
def test_documents_of_any_shape_are_read_or_refused(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("odd") / "a.json"
    path.write_text(json.dumps(document))
    refusals(str(path))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("text", [DEEP, '{"text": ' + DEEP + "}", '{"text": "a", "label": ' + LONG + "}"])
def test_json_that_is_too_deep_or_too_long_a_number_is_refused(tmp_path, name, text):
    assert len(refusals(written(tmp_path, name, text))) == 6


def test_lists_in_cells_are_bounded(tmp_path):
    assert parse_list(DEEP) is None and parse_list(f"[{LONG}]") == [LONG]
    path = written(tmp_path, "a.csv", f"tokens,tags\na b,O O\n{DEEP},O\n")
    with pytest.raises(
        DataError, match=r'line 3 has a list under "tokens" that cannot be read \(\[{40}\); name the '
    ):
        read_tagged(TagSource(path=path))


def test_a_list_is_read_as_json_python_and_numpy_write_it():
    expected = ["a", "it's", 'x"y', "é"]
    assert parse_list(json.dumps(expected)) == parse_list(repr(expected)) == expected
    assert parse_list("['a' 'b'\n 'c']") == parse_list("a b  c") == ["a", "b", "c"]
    assert parse_list("[1, 2.5, None]") == ["1", "2.5", None] and parse_list("[]") == []
    assert parse_list(r"['\n\x41\u00e9\U0001F600\\']") == ["\nAé😀\\"]
    assert parse_list("['a', ['b']]") is None and parse_list("['a]") is None


def test_integers_are_those_of_plain_digits():
    assert [integer_in(each) for each in (3, "3", 3.0, "3.0", -1)] == [3, 3, 3, 3, -1]
    assert {integer_in(each) for each in ("²", "①", "", LONG, True, None, float("nan"), 1.5, "x", [1])} == {None}


@pytest.mark.parametrize("value", ['{"a": 1}', "[1]", "[]"])
def test_a_label_that_is_a_list_or_an_object_is_refused(tmp_path, value):
    path = written(tmp_path, "a.jsonl", f'{{"text": "a", "label": {value}}}\n')
    with pytest.raises(
        DataError, match=r'record 1 has (a list|a JSON object) under "label", where one text or number'
    ):
        read_labeled(LabelSource(path=path))


def test_a_label_that_is_no_number_is_none_and_odd_ones_are_refused(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"text": "a", "label": NaN}\n{"text": "b", "label": null}\n')
    assert [each.label for each in read_labeled(LabelSource(path=path))] == ["", ""]
    path = written(tmp_path, "b.jsonl", '{"text": "a", "label": "\\ud800"}\n')
    with pytest.raises(
        DataError, match=r'record 1 has half a character \(a lone surrogate\) under "label"; write it'
    ):
        read_labeled(LabelSource(path=path))
    path = written(tmp_path, "c.csv", "text,score\na b,²\n")
    with pytest.raises(DataError, match=r'line 2 has "²" under "score", which is not a number'):
        read_labeled(LabelSource(path=path), is_number=True)


@pytest.mark.parametrize(
    "name, text, read",
    [
        ("a.csv", "Text,label,text\na,b,c\n", lambda path: read_labeled(LabelSource(path=path))),
        ("a.tsv", "text\tlabel\ttext\na\tb\tc\n", lambda path: read_labeled(LabelSource(path=path))),
        ("a.csv", "context,text,text,label\na,b,c,1\n", lambda path: read_choices(ChoiceSource(
            path=path, context_column="context", choice_columns=("text", "label"), label_column="label"))),
        ("a.csv", "context,question,text,answer,text\na,b,c,d,e\n", None),
        ("a.csv", "word,tag,text,text\na,O,b,c\n", lambda path: read_tagged(
            TagSource(path=path, word_column="text"))),
        ("a.csv", "source,text,text\na,b,c\n", lambda path: read_pairs(
            PairSource(path=path, source_column="source", target_column="text"))),
        ("a.csv", "text,text\na,b\n", None),
    ],
)  # fmt: skip
def test_a_column_that_is_read_has_a_name_of_its_own(tmp_path, name, text, read):
    path = written(tmp_path, name, text)
    if read is None:
        read = lambda path: list(read_documents(TextSource(paths=(path,))))
    with pytest.raises(DataError, match=r': 2 columns are called "text"; rename or remove all but one\.$'):
        read(path)


def test_a_column_that_is_not_read_may_share_its_name(tmp_path):
    path = written(tmp_path, "a.csv", "text,label,note,note\na b,x,1,2\nc d,y,1,2\n")
    assert [each.label for each in read_labeled(LabelSource(path=path))] == ["x", "y"]


def test_a_key_that_comes_twice_is_refused(tmp_path):
    for name in ("a.jsonl", "a.json"):
        path = written(tmp_path, name, '{"text": "a", "label": "x", "label": "y"}')
        with pytest.raises(DataError, match=re.escape('is not JSON (the key "label" comes twice in one object)')):
            read_labeled(LabelSource(path=path))


def test_a_text_column_that_is_named_twice_is_said(tmp_path):
    path = written(tmp_path, "a.csv", "text,label\na b,x\nc d,y\n")
    with pytest.raises(
        DataError, match='the text column "text" is named twice; name it once, or two columns for pai'
    ):
        read_labeled(LabelSource(path=path, text_column="text", second_column="Text"))


def test_long_cells_and_nul_characters_are_text(tmp_path):
    path = written(tmp_path, "a.csv", f"text,label\n{'word ' * 40_000},x\na\x00b,y\n")
    first, second = read_labeled(LabelSource(path=path))
    assert len(first.texts[0]) == 199_999 and second.texts == ("a\x00b",)


def test_empty_records_are_one(tmp_path):
    found = json_rows(type(tmp_path)(written(tmp_path, "a.jsonl", "{}\n\n{}\n")))
    assert len({id(each) for each in found}) == 1 and len(found) == 3


def asked(tmp_path, **question):
    row = {"context": "Berlin is in Berlin.", "question": "Where?", **question}
    return read_questions(QuestionSource(path=written(tmp_path, "a.jsonl", json.dumps(row))))[0]


@pytest.mark.parametrize(
    "answers, expected",
    [
        ({"text": "Berlin", "answer_start": 13}, [GoldAnswer("Berlin", 13)]),
        ({"text": ["Berlin", "in"], "answer_start": [0]}, [GoldAnswer("Berlin", 0), GoldAnswer("in", 4)]),
        ([{"text": "Berlin", "answer_start": "13"}], [GoldAnswer("Berlin", 13)]),
        ([{"text": "Berlin", "answer_start": 13.0}], [GoldAnswer("Berlin", 13)]),
        ([{"text": "Berlin", "answer_start": "²"}, {"text": "x"}], [GoldAnswer("Berlin", 0), GoldAnswer("x", -1)]),
        ([{"text": "Berlin", "answer_start": -7}], [GoldAnswer("Berlin", 0)]),
        ([{"text": "Berlin", "answer_start": 10**30}], [GoldAnswer("Berlin", 13)]),
        (["Berlin"], [GoldAnswer("Berlin", 0)]),
        (None, []),
        ({"text": [], "answer_start": []}, []),
    ],
)
def test_answers_are_read_however_they_are_written(tmp_path, answers, expected):
    assert list(asked(tmp_path, answers=answers).answers) == expected


def test_a_question_without_an_id_goes_by_its_number(tmp_path):
    row = {"context": "a", "question": "b", "answers": []}
    path = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, [row | {"id": "x"}, row, row | {"id": None}])))
    assert [each.name for each in read_questions(QuestionSource(path=path))] == ["x", "1", "2"]


@pytest.mark.parametrize(
    "qas, words",
    [
        ([7], "question 0 is not a JSON object"),
        ([{"question": 7, "answers": []}], "question 0 has the number 7 as its question, not text"),
        ([{"question": "b", "answers": 7}], "question 0 has the number 7 as its answers, not text"),
        ([{"question": "b", "answers": [7]}], "question 0 has the number 7 as its answer, not text"),
        ([{"question": "b", "answers": [{"text": "\ud800"}]}], "question 0 has half a character (a lone surrogate)"),
        ([{"question": "b", "id": [1], "answers": []}], 'question 0 has a list under "id"'),
    ],
)
def test_odd_questions_are_refused(tmp_path, qas, words):
    text = json.dumps({"data": [{"paragraphs": [{"context": "a", "qas": qas}]}]})
    with pytest.raises(DataError, match=re.escape(words)):
        read_questions(QuestionSource(path=written(tmp_path, "a.json", text)))


@pytest.mark.parametrize("label, number", [(1, 1), ("1", 1), (1.0, 1), ("1.0", 1), ("b", 1), ("B", 1), ("two", 1)])
def test_the_right_choice_is_named_in_many_ways(tmp_path, label, number):
    row = {"context": "a", "choices": ["one", "two", "three"], "label": label}
    (found,) = read_choices(ChoiceSource(path=written(tmp_path, "a.jsonl", json.dumps(row))))
    assert found.label == number


@pytest.mark.parametrize("label", ["²", "①", LONG, 10**30, -1, 3.5, True, None, "", 7])
def test_a_label_that_names_no_choice_is_refused(tmp_path, label):
    row = {"context": "a", "choices": ["one", "two", "three"], "label": label}
    path = written(tmp_path, "a.jsonl", json.dumps(row))
    with pytest.raises(
        DataError, match=r"record 1: \".{0,40}\" names none of its 3 choices; give its number, A, B, …,"
    ):
        read_choices(ChoiceSource(path=path))


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e31"])
def test_a_number_too_large_to_learn_from_is_refused(tmp_path, value):
    path = written(tmp_path, "a.csv", f"text,score\na b,1\nc d,{value}\n")
    with pytest.raises(
        DataError, match=rf'line 3 has {value} under "score", too large to learn from \(1e\+30 at most'
    ):
        read_labeled(LabelSource(path=path), is_number=True)


def test_a_text_column_named_twice_is_said_where_one_is_read(tmp_path):
    path = written(tmp_path, "a.csv", "text,label\na b,x\n")
    with pytest.raises(DataError, match='the text column "text" is named twice; name it once'):
        read_text_table(path, ["text", "text"], 1)
    assert read_text_table(path, ["text", "text"], 2).texts == [("a b", "a b")]

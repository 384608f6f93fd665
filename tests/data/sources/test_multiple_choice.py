import json

import pytest

from labeled import Telling
from regard.data.settings.examples import ChoiceSource
from regard.data.sources.multiple_choice import MultipleChoiceRow, read_choices, read_choices_with_columns
from regard.errors import DataError


def written(folder, name, *rows):
    path = folder / name
    lines = rows if name.endswith("csv") else map(json.dumps, rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def test_fields_of_json_lines_are_guessed_from_their_names_and_said(tmp_path):
    path = written(tmp_path, "a.jsonl", {"context": "It rained.", "choices": ["wet", "dry"], "label": 0})
    telling = Telling()
    assert read_choices(ChoiceSource(path=path), telling) == [MultipleChoiceRow("It rained.", ("wet", "dry"), 0)]
    assert telling.said == [
        f'{path}: the context is in column "context", the choices in "choices", the answer in "label".'
    ]


@pytest.mark.parametrize("label", [1, "1", "B", "b", "dry"])
def test_an_answer_is_a_number_a_letter_or_the_choice_itself(tmp_path, label):
    path = written(tmp_path, "a.jsonl", {"ctx": "It rained.", "endings": ["wet", "dry", "hot"], "answer": label})
    assert read_choices(ChoiceSource(path=path))[0].label == 1


def test_answers_are_counted_from_one_where_they_must_be(tmp_path):
    rows = [{"context": "a", "choices": ["x", "y"], "label": label} for label in (1, 2)]
    path = written(tmp_path, "a.jsonl", *rows)
    assert [each.label for each in read_choices(ChoiceSource(path=path))] == [0, 1]


def test_choices_may_be_named_beside_their_texts(tmp_path):
    choices = {"text": ["wet", "dry"], "label": ["1", "2"]}
    path = written(tmp_path, "a.jsonl", {"question": "What is rain?", "choices": choices, "answerKey": "1"})
    assert read_choices(ChoiceSource(path=path))[0].label == 0


def test_columns_hold_a_choice_each_and_may_be_empty_at_the_end(tmp_path):
    path = written(tmp_path, "a.csv", "context,ending0,ending1,ending2,label", "It rained.,wet,dry,,1", "So?,a,b,c,2")
    assert read_choices(ChoiceSource(path=path)) == [
        MultipleChoiceRow("It rained.", ("wet", "dry"), 1),
        MultipleChoiceRow("So?", ("a", "b", "c"), 2),
    ]
    place = ChoiceSource(path=path, choice_columns=("ending1", 1), context_column=0)
    assert read_choices(place, has_labels=False)[0] == MultipleChoiceRow("It rained.", ("dry", "wet"), -1)


@pytest.mark.parametrize("header", ["story,ending_a,ending_b,label", "The Story,choice 1,choice 2,Right Answer"])
def test_columns_are_known_by_other_names_too(tmp_path, header):
    path = written(tmp_path, "a.csv", header, "It rained.,wet,dry,1", "It snowed.,hot,cold,0")
    assert read_choices(ChoiceSource(path=path)) == [
        MultipleChoiceRow("It rained.", ("wet", "dry"), 1),
        MultipleChoiceRow("It snowed.", ("hot", "cold"), 0),
    ]


def test_probes_of_the_miniature_world_have_their_right_answer_first_or_second():
    found = read_choices(ChoiceSource(path="miniature:valid", max_rows=60))
    assert found == read_choices(ChoiceSource(path="miniature:valid", max_rows=60))
    assert 15 < sum(each.label for each in found) < 45 and all(len(each.choices) == 2 for each in found)


WAY_OUT = "name the columns with data.train.context_column=NAME, choices_column or choice_columns, and label_column."


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            {"choices": ["a", "b"], "label": 0},
            f": no column (choices, label) is known to hold the context; {WAY_OUT}",
        ),
        ({"context": "x", "label": 0}, f": no column (context, label) is known to hold the choices; {WAY_OUT}"),
        (
            {"context": "x", "choices": ["a", "b"]},
            f": no column (context, choices) is known to hold the answer; {WAY_OUT}",
        ),
        (
            {"context": "x", "choices": "a", "label": 0},
            f': record 1 has no list of texts under "choices"; {WAY_OUT}',
        ),
        ({"context": "x", "choices": ["a"], "label": 0}, ": record 1 has 1 choices; at least two are needed."),
        (
            {"context": "x", "choices": ["a", " "], "label": 0},
            ": record 1: choice 1 (counted from 0) is empty; fill it in.",
        ),
        (
            {"context": "x", "choices": ["a", "\ud800"], "label": 0},
            ': record 1 has half a character (a lone surrogate) under "choices"; write it whole.',
        ),
        (
            {"context": "x", "choices": ["a", "b"], "label": 3},
            ': record 1: "3" names none of its 2 choices; give its number, A, B, …, or the choice itself.',
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path, row, sentence):
    path = written(tmp_path, "a.jsonl", row)
    with pytest.raises(DataError) as error:
        read_choices(ChoiceSource(path=path))
    assert str(error.value) == path + sentence


def test_an_empty_table_is_refused(tmp_path):
    path = written(tmp_path, "a.csv", "context,choice0,choice1,label")
    with pytest.raises(DataError, match="there are no examples in it; name another file."):
        read_choices(ChoiceSource(path=path))


def test_columns_of_letters_and_those_of_a_training_set(tmp_path):
    (tmp_path / "a.csv").write_text("question,A,B,C,answer\nIt rained.,wet,dry,cold,B\n")
    place = ChoiceSource(path=str(tmp_path / "a.csv"))
    found, columns = read_choices_with_columns(place)
    assert found == [MultipleChoiceRow("It rained.", ("wet", "dry", "cold"), 1)]
    assert columns == {"context_column": "question", "choice_columns": ["A", "B", "C"], "label_column": "answer"}
    usual = {"context_column": "question", "choice_columns": ["C", "A"], "label_column": "answer"}
    (tmp_path / "a.csv").write_text("question,A,B,C,answer\nIt rained.,wet,dry,cold,wet\n")
    assert read_choices_with_columns(place, usual=usual)[0] == [MultipleChoiceRow("It rained.", ("cold", "wet"), 1)]

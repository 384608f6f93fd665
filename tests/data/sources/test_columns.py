"""Columns are detected by their names, then by their contents, and only if there is no doubt."""

import pytest

from regard.data.sources.columns import (
    FEWEST_ROWS,
    LABEL_NAMES,
    TEXT_NAMES,
    is_numeric,
    known_label,
    known_texts,
    label_by_contents,
    named,
    names_columns,
    present,
    shown,
    text_by_contents,
    words,
)
from regard.data.sources.tables import Table

ROWS = 12


def table(has_header=True, **columns):
    names = list(columns)
    rows = [(f"line {n}", {name: columns[name](n) for name in names}) for n in range(ROWS)]
    return Table("a.csv", names, rows, has_header)


@pytest.mark.parametrize("name", ["reviewText", "review_text", "Review Text", "review-text"])
def test_a_name_is_split_into_its_words(name):
    assert words(name) == ["review", "text"]
    assert words("answer2") == ["answer", "2"]


@pytest.mark.parametrize(
    ("names", "column"),
    [
        (["id", "Text", "sentence"], "Text"),
        (["Sentence", "text"], "text"),
        (["id", "Review Text"], "Review Text"),
        (["review text", "text body"], None),
        (["text_id", "review_length"], None),
        (["a", "b"], None),
    ],
)
def test_an_exact_name_wins_and_a_partial_one_must_be_the_only_one(names, column):
    assert named(names, TEXT_NAMES) == column


def test_pairs_come_before_single_texts_unless_one_is_wanted():
    names = ["Premise", "hypothesis", "text"]
    assert known_texts(names) == known_texts(names, 2) == ("Premise", "hypothesis")
    assert known_texts(names, 1) == ("text",) and known_texts(["text"], 2) is None
    assert known_label(["score", "label"]) == "label" and known_label(["score", "label"], True) == "score"


def test_columns_of_another_table_are_present_by_name_or_without_a_header_by_number():
    named_table, numbered = table(Text=str, label=str), table(False, **{"0": str, "1": str})
    assert present(named_table, ["text", "LABEL"]) and present(named_table, ["text.inner"])
    assert not present(named_table, ["text", "other"]) and not present(named_table, [0])
    assert present(numbered, [0, 1]) and not present(numbered, [2]) and not present(numbered, ["0"])
    assert not present(named_table, []) and not present(named_table, [None])


@pytest.mark.parametrize(
    ("row", "is_header"),
    [
        (["text", "label"], True),
        (["Review Text", "verdict"], True),
        (["text", "12"], False),
        (["a class of its own here", "y"], False),
        (["Good text.", "yes"], False),
        (["text", "text"], False),
        (["hello", "there"], False),
        (["text"], False),
    ],
)
def test_a_header_has_names_and_neither_sentences_nor_numbers(row, is_header):
    assert names_columns(row, TEXT_NAMES, LABEL_NAMES) == is_header


def test_texts_are_long_and_distinct_and_labels_repeat():
    example = table(
        id=str,
        body=lambda n: f"this is text number {n}",
        verdict=lambda n: ("yes", "no")[n % 2],
        points=lambda n: n / 2,
    )
    assert text_by_contents(example, example.names) == "body"
    assert label_by_contents(example, example.names, wants_number=False) == "verdict"
    assert label_by_contents(example, example.names, wants_number=True) == "points"
    few = Table("a.csv", example.names, example.rows[: FEWEST_ROWS - 1])
    assert text_by_contents(few, few.names) is None and label_by_contents(few, few.names, False) is None


def test_two_candidates_are_none():
    texts = table(a=lambda n: f"some words here {n}", b=lambda n: f"more words there {n}")
    labels = table(a=lambda n: n % 2, b=lambda n: n % 3, c=lambda n: [n])
    assert text_by_contents(texts, texts.names) is None
    assert label_by_contents(labels, labels.names, False) is None
    assert label_by_contents(labels, ["a", "c"], False) == "a"


@pytest.mark.parametrize(
    ("text", "is_number"),
    [("1", True), ("-2.5e3", True), ("", False), ("1 2", False), ("inf", False), ("nan", False)],
)
def test_a_number_is_finite(text, is_number):
    assert is_numeric(text) == is_number


def test_columns_without_names_are_shown_with_their_first_cells():
    assert shown(table(a=str, b=str)) == "a, b"
    assert shown(table(False, **{"0": lambda n: "x" * 30, "1": lambda n: "y"})) == f'0 with "{"x" * 19}…", 1 with "y"'

"""Rows of a call: values, tuples, dicts and lists of them."""

import pytest

from regard.errors import DataError
from regard.pipelines.inputs import TextRow, as_row, check_text, split_rows

NAMES = ("text", "second")


def test_a_list_or_an_iterator_is_many_rows_and_anything_else_is_one():
    assert split_rows((["a", "b"],)) == (["a", "b"], True) and split_rows((iter("ab"),)) == (["a", "b"], True)
    assert split_rows(("a",)) == (["a"], False) and split_rows((("a", "b"),)) == ([("a", "b")], False)
    assert split_rows(("a", "b")) == ([("a", "b")], False) and split_rows(("a", ["b"])) == ([("a", ["b"])], False)


@pytest.mark.parametrize("given", [("a", "b"), {"text": "a", "second": "b"}, TextRow("a", "b")])
def test_a_row_is_a_tuple_a_dict_or_a_row(given):
    assert as_row(TextRow, NAMES, given, "line 1") == TextRow("a", "b")
    assert as_row(TextRow, NAMES, "a", "line 1") == TextRow("a")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"txt": "a"}, "line 3: a row has text and second, and txt was given; correct the name."),
        ({"second": "a"}, "line 3: text is missing, a row has text and second; give it."),
        (("a", "b", "c"), "line 3: 3 values were given, but a row has text and second; leave some out."),
    ],
)
def test_what_is_no_row_is_refused(given, sentence):
    with pytest.raises(DataError) as error:
        as_row(TextRow, NAMES, given, "line 3")
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" \n", "line 2 is empty; give some text."),
        ("\udc80", "line 2 is not UTF-8 text; convert it first."),
        (3.5, "line 2 is 3.5 and not text; leave it out, or give it as text."),
        (None, "line 2 is None and not text; leave it out, or give it as text."),
    ],
)
def test_what_is_no_text_is_refused(text, sentence):
    check_text("a", "line 2")
    with pytest.raises(DataError) as error:
        check_text(text, "line 2")
    assert str(error.value) == sentence

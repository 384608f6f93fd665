"""Any text is a value or a ParseError, and only plain digits are numbers."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config.overrides import parse_value
from regard.config.parsing import DEEPEST, ParseError, parse_integer, parse_json, parse_number, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2),
        '{"a":' * 5_000,
        "9" * 5_000,
        "{",
        "",
        "nul",
        '"\x00"',
    ],
)
def test_json_that_cannot_be_used_is_a_parse_error(text):
    with pytest.raises(ParseError):
        parse_json(text)


def test_the_error_of_json_names_its_line():
    with pytest.raises(ParseError, match="line 2: Expecting value"):
        parse_json('{"a":\n}')


def test_nesting_up_to_the_limit_is_read():
    assert parse_json("[" * DEEPEST + "]" * DEEPEST) is not None


@pytest.mark.parametrize("text", ["a = " + "[" * 5_000, "a = " + "9" * 5_000, "a", "a = 99999-01-01", "=" * 99])
def test_toml_that_cannot_be_used_is_a_parse_error(text):
    with pytest.raises(ParseError):
        parse_toml(text)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1e400", "²", "①", "1_000", "１２", "", "0x10", "1 2", "9" * 5_000]
)
def test_what_is_no_finite_number_in_plain_digits_is_none(text):
    assert parse_number(text) is None


def test_numbers_are_read_as_they_are_meant():
    assert [parse_number(text) for text in ("1", "-1.5", " .5 ", "2.", "1e-3", "+7E2")] == [
        1,
        -1.5,
        0.5,
        2,
        0.001,
        700,
    ]
    assert [parse_integer(text) for text in ("12", "-3", "+4", "1.0", "²", "9" * 19)] == [12, -3, 4, None, None, None]


@given(st.text())
def test_no_text_ends_in_another_error(text):
    for parse in (parse_json, parse_toml):
        with suppress(ParseError):
            parse(text)
    assert parse_number(text) is None or text.strip().isascii()
    parse_value(text)


@pytest.mark.parametrize("text", ["1e400", "[" * 3_000, "9" * 5_000])
def test_a_value_that_is_no_number_stays_a_word(text):
    assert parse_value(text) == text

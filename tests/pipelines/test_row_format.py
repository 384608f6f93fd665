"""A row is the fields of arguments in turn, or of a line."""

import pytest

from regard.errors import DataError
from regard.pipelines.row_format import RowFormat


def test_the_last_field_of_an_open_row_has_all_further_values():
    row = RowFormat(("context", "choices"), is_open=True)
    expected = {"context": "c", "choices": ["a", "b"]}
    assert row.of_line("c\ta\tb", 1) == row.of_arguments(["c", "a", "b"])[0] == expected
    with pytest.raises(
        DataError, match="1 text was given, but a row of this model has context and choices; give all"
    ):
        row.of_arguments(["c"])


def test_a_blank_row_is_none_unless_blank_rows_count():
    assert RowFormat(("text",)).of_line(" ", 1) is None
    assert RowFormat(("text",), takes_blank=True).of_line("", 1) == {"text": ""}

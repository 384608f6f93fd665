"""Markdown: text is escaped unless it is marked as Markdown, and code cannot end its block."""

import pytest

from nasty import NASTY
from regard.reporting.markdown import Markdown, cell, code, codes, fenced, table


def test_a_table_has_a_header_a_rule_and_a_line_for_each_row():
    assert table(["set", "BLEU"], [["test", 31.5], ["a|b", Markdown("**32**")]]) == [
        "| set | BLEU |",
        "| --- | --- |",
        "| test | 31.5 |",
        "| a&#124;b | **32** |",
    ]


@pytest.mark.parametrize("text", NASTY)
def test_whatever_a_cell_holds_a_row_has_as_many_cells_as_columns(text):
    (line,) = table(["a", "b"], [[text, code(text)]])[2:]
    assert line.replace("\\|", "").count("|") == 3 and "\n" not in line
    assert "<" not in cell(text)


def test_code_is_text_as_it_is_and_other_values_as_json():
    assert code("a b") == "`a b`" and code({"größe": [1, None]}) == '`{"größe": [1, null]}`'
    assert isinstance(code("x"), Markdown) and code("a`b") == "<code>a\\`b</code>"
    assert codes(["a", 2]) == "`a`, `2`" and codes([], " ") == "" and codes("ab", " ") == "`a` `b`"


def test_a_pipe_inside_code_does_not_end_a_cell():
    assert cell(code("a|b")) == "`a\\|b`"


def test_a_fence_is_longer_than_any_in_the_lines():
    assert fenced("sh", "ls") == ["```sh", "ls", "```"]
    assert fenced("", "```", "````python")[0] == "`````" == fenced("", "```", "````python")[-1]

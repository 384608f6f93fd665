"""A mistake is one line, whatever the values it shows."""

from regard.errors import LONGEST, ConfigError, DataError


def test_a_value_cannot_break_the_line_or_steer_the_terminal():
    assert str(DataError('a.csv: "x\ny\x1b[31m\u202e" is no number.')) == r'a.csv: "x\ny\x1b[31m\u202e" is no number.'
    assert str(DataError("a: half \ud800.")) == r"a: half \ud800."


def test_a_value_of_any_length_leaves_a_sentence_that_can_be_read():
    text = str(DataError(f'a.csv: "{"y" * 100_000}" is no number.'))
    assert len(text) < LONGEST + 10 and text.startswith("a.csv:") and text.endswith("is no number.")


def test_several_mistakes_are_a_line_each():
    assert str(ConfigError("a: wrong.", "b: wrong\n.")) == "a: wrong.\nb: wrong\\n."

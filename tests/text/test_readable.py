"""Tokens as people read them."""

import pytest

from regard.text.readable import readable


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["▁Der", "▁Hund", "chen", "▁", "</s>"], ["Der", "Hund", "chen", "␣", "</s>"]),
        (["Anna", "Ġfr", "Ã¼h", "Ġ", "Ċ"], ["Anna", "fr", "üh", "␣", "␣"]),
        (["[CLS]", "play", "##ing", "früh"], ["[CLS]", "play", "##ing", "früh"]),
    ],
)
def test_marks_of_spaces_and_bytes_are_gone(tokens, words):
    assert readable(tokens) == words

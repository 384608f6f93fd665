import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.text.char_tokenizer import (
    BYTES,
    SPACE,
    WORD_START_LIMIT,
    byte_order,
    spelling_tokenizer,
    word_tokenizer,
    words_of,
)

SPELL = spelling_tokenizer()


def test_every_byte_has_one_token_and_a_space_begins_a_word():
    assert sorted(byte_order()) == list(range(BYTES)) and byte_order()[0] == ord(" ")
    assert (
        SPELL.size == SPACE + BYTES
        and SPELL.pad_id < SPELL.unk_id < SPELL.bos_id < SPELL.eos_id < SPACE < WORD_START_LIMIT
    )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_words_are_spelled_in_utf_8_after_a_space_token(text):
    ids = SPELL.encode(text).ids
    order = byte_order()
    spelled = bytes(order[number - SPACE] for number in ids).decode()
    assert spelled == "".join(f" {word}" for word in words_of([text], SPELL))
    assert sum(number < WORD_START_LIMIT for number in ids) == len(words_of([text], SPELL))


def test_punctuation_is_a_word_and_lowercasing_is_that_of_the_tokenizer():
    assert words_of(["Don't go,", "Ä!"], SPELL) == ["Don", "'", "t", "go", ",", "Ä", "!"]
    assert words_of(["Ä!"], spelling_tokenizer(lowercase=True)) == ["ä", "!"]
    assert spelling_tokenizer(lowercase=True).encode("AB").ids == SPELL.encode("ab").ids


def test_whole_words_have_ids_in_the_given_order_after_the_special_tokens():
    tokenizer = word_tokenizer(["the", "cat"], lowercase=True)
    assert tokenizer.encode("The cat sat").ids == [4, 5, tokenizer.unk_id]
    assert word_tokenizer(["the"]).encode("The the").ids == [1, 4]


def test_a_text_that_is_not_unicode_is_refused():
    with pytest.raises(DataError, match=r"^text 2 holds a lone surrogate \(\\ud800\) at character 1"):
        words_of(["a", "\ud800"], SPELL)

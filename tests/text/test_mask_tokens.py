import pytest

from regard.errors import ConfigError
from regard.text.mask_tokens import encode_masked, fill_masks
from regard.text.settings import MaskedTextSettings, TokenizerSettings
from regard.text.training import train_tokenizer

TEXT = ["They play in the garden, and she played with them.", "[MASK] is no word."] * 4
TOKENIZER = train_tokenizer(TEXT, MaskedTextSettings(size=150))


def test_each_mask_is_one_token_between_the_ids_of_the_text_around_it():
    ids = encode_masked(TOKENIZER, "they [MASK] in the[MASK]")
    assert ids == [
        *TOKENIZER.encode("they").ids,
        TOKENIZER.mask_id,
        *TOKENIZER.encode("in the").ids,
        TOKENIZER.mask_id,
    ]
    assert encode_masked(TOKENIZER, "they play") == TOKENIZER.encode("they play").ids
    assert TOKENIZER.mask_id not in TOKENIZER.encode("they [MASK]").ids  # elsewhere it is plain characters


def test_a_tokenizer_without_a_mask_token_is_refused():
    plain = train_tokenizer(TEXT, TokenizerSettings(kind="word", size=50))
    with pytest.raises(ConfigError) as error:
        encode_masked(plain, "they [MASK]")
    assert (
        str(error.value)
        == "This model's tokenizer has no [MASK], so it cannot fill masks; use a masked language model."
    )


def test_masks_are_replaced_and_continuations_are_joined_to_the_word_before():
    assert fill_masks("They [MASK] in the [MASK].", ["play", "garden"]) == "They play in the garden."
    assert fill_masks("They play [MASK] it", ["##ed"]) == "They played it"
    assert fill_masks("[MASK] it", ["▁Play"]) == "Play it" and fill_masks("a [MASK]", ["##"]) == "a ##"
    assert fill_masks("no mask", []) == "no mask"
    with pytest.raises(ValueError):
        fill_masks("[MASK] [MASK]", ["one"])

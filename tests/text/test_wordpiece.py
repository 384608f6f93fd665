"""WordPiece as BERT has it: its special tokens, its cleaning, and an alphabet that ends."""

import json

import pytest

from regard.errors import DataError
from regard.text import training as training_of_tokenizers
from regard.text.settings import MaskedTextSettings, TokenizerSettings
from regard.text.tokenizer import MASK, Tokenizer
from regard.text.training import train_tokenizer

TEXT = [
    "They play in the garden, and she played with them.",
    "He plays the piano; we like playing too.",
    "Die Größe, die Übung, naïve Cafés: 日本語!",
] * 4


def trained(texts=TEXT, **changes) -> Tokenizer:
    return train_tokenizer(texts, MaskedTextSettings(**({"size": 200} | changes)))


def test_special_tokens_have_berts_names_and_fixed_places():
    tokenizer = trained()
    assert tokenizer.tokens(range(5)) == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK]
    found = tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.mask_id
    assert found == (0, 1, 2, 3, 4) and tokenizer.specials == {0, 1, 2, 3, 4}
    assert train_tokenizer(TEXT, TokenizerSettings(kind="wordpiece", size=250)).mask_id is None


def test_capitals_and_accents_are_folded_as_the_settings_say():
    pieces = lambda text, **changes: "".join(trained(**changes).encode(text).tokens).replace("##", "")
    assert pieces("Größe Cafés") == "großecafes"
    assert pieces("Größe Cafés", strip_accents=False) == "größecafés"
    assert pieces("Größe Cafés", lowercase=False, size=300) == "GrößeCafés"
    assert pieces("Größe Cafés", lowercase=False, strip_accents=True, size=300) == "GroßeCafes"


def test_text_comes_back_and_specials_in_a_text_are_letters():
    tokenizer = trained(TEXT + ["[MASK] [SEP]"] * 2, size=250)
    ids = tokenizer.encode("they play [MASK] ξ").ids
    assert not {2, 3, 4} & set(ids) and ids.count(1) == 1
    assert tokenizer.decode([2, *ids, 3, 0]) == "they play [ mask ] ⁇"


def test_ideographs_and_punctuation_stand_alone():
    tokenizer = trained()
    assert tokenizer.encode("日本x,a").tokens[:2] == ["日", "本"]
    pieces = set(tokenizer.vocabulary.values())
    assert not pieces & {"##日", "##,", "##.", "##;"} and {"日", ",", "##a"} <= pieces


def test_training_repeats_and_one_file_holds_everything(tmp_path):
    tokenizer = trained()
    assert json.loads(trained().to_json()) == json.loads(tokenizer.to_json())
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.mask_id == 4 and again.encode("PLAYED 日本 é") == tokenizer.encode("PLAYED 日本 é")


def test_the_rarest_characters_stay_unknown(monkeypatch):
    monkeypatch.setattr(training_of_tokenizers, "ALPHABET", 10)
    tokenizer = trained(["abcdefghij"] * 3 + ["abcdefghi k", "l"], size=100, min_frequency=1)
    assert tokenizer.unk_id not in tokenizer.encode("abcdefghij").ids
    assert tokenizer.encode("k l").ids == [tokenizer.unk_id] * 2
    assert {len(piece.removeprefix("##")) for piece in tokenizer.vocabulary.values()} > {1}


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word", "char"])
def test_other_kinds_may_have_berts_special_tokens(kind):
    tokenizer = trained(kind=kind, size=120, strip_accents=False)
    assert (tokenizer.mask_id, tokenizer.bos_id, tokenizer.decode([2, *tokenizer.encode("the größe").ids, 3])) == (
        4,
        2,
        "the größe",
    )


def test_plain_special_tokens_are_refused_where_words_are_masked():
    with pytest.raises(ValueError, match='special_tokens: "plain" has no \\[MASK\\]; only "bert" has one.'):
        MaskedTextSettings(special_tokens="plain")


def test_a_tokenizer_with_some_of_berts_tokens_is_refused():
    definition = json.loads(trained().to_json())
    definition["model"]["vocab"]["[no sep]"] = definition["model"]["vocab"].pop("[SEP]")
    definition["added_tokens"] = [each for each in definition["added_tokens"] if each["content"] != "[SEP]"]
    with pytest.raises(DataError) as error:
        Tokenizer.parse(json.dumps(definition), "test")
    assert str(error.value) == "The tokenizer has no </s> token, so it cannot be used for sequences."

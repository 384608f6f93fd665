"""A vocab.json with its merges.txt becomes a tokenizer.json that splits alike."""

import json

import pytest
import tokenizers

from language_folders import TEXTS
from regard.errors import CheckpointError
from regard.interop.huggingface.merges import tokenizer_of
from spelling import END, NASTY, save_pieces, trained_bytes


@pytest.fixture
def folder(tmp_path):
    save_pieces(trained_bytes(TEXTS), tmp_path)
    return tmp_path


def test_texts_are_split_as_by_the_tokenizer_it_was_saved_from(folder):
    definition = tokenizer_of(folder, "gpt2")
    converted, original = tokenizers.Tokenizer.from_str(json.dumps(definition)), trained_bytes(TEXTS)
    for text in [*NASTY, *TEXTS]:
        assert converted.encode(text).ids == original.encode(text).ids
    assert converted.token_to_id(END) == original.token_to_id(END)


def test_added_tokens_and_a_leading_space_are_taken_over(folder):
    (folder / "added_tokens.json").write_text(json.dumps({"<|user|>": 999}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"add_prefix_space": True}))
    definition = tokenizer_of(folder, "gpt2")
    assert [token["id"] for token in definition["added_tokens"]][-1] == 999
    assert definition["pre_tokenizer"]["add_prefix_space"] is True
    (folder / "tokenizer_config.json").unlink()
    assert tokenizer_of(folder, "gpt2")["pre_tokenizer"]["add_prefix_space"] is False


def test_line_breaks_of_unicode_and_windows_split_nothing(folder):
    (folder / "merges.txt").write_text("#version: 0.2\r\na \u2028\r\nb c\r\n", encoding="utf-8", newline="")
    assert tokenizer_of(folder, "gpt2")["model"]["merges"] == [["a", "\u2028"], ["b", "c"]]


def test_without_the_files_or_for_other_models_there_is_none(folder):
    assert tokenizer_of(folder, "llama") is None
    (folder / "merges.txt").unlink()
    assert tokenizer_of(folder, "gpt2") is None


def test_a_merge_of_three_is_refused_by_its_line(folder):
    (folder / "merges.txt").write_text("#version: 0.2\na b\na b c\n")
    with pytest.raises(CheckpointError) as error:
        tokenizer_of(folder, "gpt2")
    assert str(error.value) == f'{folder / "merges.txt"}: line 3 is "a b c", not two tokens; copy it again.'

"""BERT's tokenizer, cased and not, from every file it may come in: the same tokens as in `transformers`."""

import json

import pytest

from encoder_folders import NASTY_WORDS, bert_tokenizer, minilm, small_encoder_bundle, their_encoder
from regard.errors import CheckpointError
from regard.interop.huggingface.encoder_tokenizers import read_encoder_tokenizer, write_encoder_tokenizer
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write
from regard.text.tokenizer import MASK

SETTINGS = [
    {},
    {"lowercase": False},
    {"lowercase": True, "strip_accents": False},
    {"lowercase": False, "strip_accents": True},
]
THEIRS = [
    {},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False},
    {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False},
]


def theirs_in(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, split_special_tokens=True)


def assert_the_same(tokenizer, theirs, texts=NASTY_WORDS):
    ours = tokenizer.encode_batch(texts)
    assert [theirs(text, add_special_tokens=False)["input_ids"] for text in texts] == ours
    seconds = texts[1:] + texts[:1]
    both = theirs(texts, seconds)
    for one, other, ids, segments in zip(
        ours, tokenizer.encode_batch(seconds), both["input_ids"], both["token_type_ids"]
    ):
        first, second = [tokenizer.bos_id, *one, tokenizer.eos_id], [*other, tokenizer.eos_id]
        assert ids == first + second and segments == [0] * len(first) + [1] * len(second)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_what_is_written_splits_alike_there(settings, tmp_path):
    tokenizer = bert_tokenizer(**settings)
    write(small_encoder_bundle(tokenizer), tmp_path / "hf")
    theirs = theirs_in(tmp_path / "hf")
    assert type(theirs).__name__ == "BertTokenizer" and theirs.model_max_length == 32
    assert theirs.mask_token_id == tokenizer.mask_id and theirs.pad_token_id == tokenizer.pad_id
    assert_the_same(tokenizer, theirs)
    lines = (tmp_path / "hf" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert lines[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK] and len(lines) == tokenizer.size + 1


@pytest.mark.parametrize("is_fast", [True, False], ids=["tokenizer.json", "vocab.txt"])
@pytest.mark.parametrize("settings", THEIRS, ids=str)
def test_what_is_read_splits_as_it_does_there(settings, is_fast, tmp_path):
    """The settings stand beside the vocabulary, and win over what the tokenizer.json was saved with."""
    folder = tmp_path / "theirs"
    their_encoder(folder, tokenizer=bert_tokenizer(lowercase=False))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"} | settings))
    if not is_fast:
        pieces = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
        (folder / "tokenizer.json").unlink()
    assert_the_same(read(folder).tokenizers["tokenizer"], theirs_in(folder))


def test_a_tokenizer_that_is_not_berts_own_class_is_as_its_file_says(tmp_path):
    folder = tmp_path / "theirs"
    their_encoder(folder, tokenizer=bert_tokenizer(lowercase=False))
    mask = {"__type": "AddedToken", "content": MASK, "lstrip": False, "rstrip": False, "single_word": False}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": False, "mask_token": mask}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = read(folder).tokenizers["tokenizer"]
    assert tokenizer.encode("THE DOG").ids == tokenizer.encode("the dog").ids
    texts = [text for text in NASTY_WORDS if text]
    expected = theirs_in(folder)(texts, add_special_tokens=False)["input_ids"]
    assert tokenizer.encode_batch(texts) == expected


def test_minilm_splits_the_same_words():
    assert_the_same(read(minilm()).tokenizers["tokenizer"], theirs_in(minilm()))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_tokenizer_round_trips_by_either_of_its_files(settings, tmp_path):
    tokenizer = bert_tokenizer(**settings)
    write_encoder_tokenizer(tmp_path, tokenizer, 32)
    expected = tokenizer.encode_batch(NASTY_WORDS)
    assert read_encoder_tokenizer(tmp_path).encode_batch(NASTY_WORDS) == expected
    (tmp_path / "tokenizer.json").unlink()
    back = read_encoder_tokenizer(tmp_path)
    assert back.encode_batch(NASTY_WORDS) == expected and back.mask_id == tokenizer.mask_id


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    with pytest.raises(CheckpointError) as error:
        read_encoder_tokenizer(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: there is no tokenizer.json and no vocab.txt here; put the model's tokenizer beside it."
    )

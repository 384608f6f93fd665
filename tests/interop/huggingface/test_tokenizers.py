"""Byte-level tokenizers of Hugging Face folders spell everything as they do there, and give it back."""

import json
import shutil

import pytest
import tokenizers

from language_folders import TEXTS, small_language_bundle, their_folder
from regard.errors import CheckpointError
from regard.interop.huggingface.read import read
from regard.interop.huggingface.tokenizers import check_token_ids, ids_in, read_tokenizers, write_tokenizer
from regard.interop.huggingface.write import write
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from spelling import END, NASTY, save_pieces, trained_bytes

MIXED = [*NASTY, "".join(NASTY), "\n".join(reversed(NASTY)), *(text + " " + text for text in NASTY)]
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""That of GPT-2's own code."""


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theirs") / "gpt2"
    their_folder(folder)
    return folder


@pytest.fixture
def pieces(gpt2, tmp_path):
    """The same with vocab.json and merges.txt in place of tokenizer.json."""
    folder = shutil.copytree(gpt2, tmp_path / "pieces")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    save_pieces(trained_bytes(TEXTS), folder)
    return folder


def tokenizer_of(folder) -> Tokenizer:
    return read(folder).tokenizers["tokenizer"]


def assert_spelled_alike(ours, theirs):
    assert ours.encode_batch(MIXED) == [theirs(text)["input_ids"] for text in MIXED]
    for text in MIXED:
        ids = ours.encode(text).ids
        assert ours.decode(ids) == theirs.decode(ids) == text
        assert (
            ours.decode([*ids, ours.eos_id]) == theirs.decode([*ids, ours.eos_id], skip_special_tokens=True) == text
        )


def test_their_tokenizer_json_spells_the_same_here(gpt2):
    from transformers import AutoTokenizer

    ours, theirs = tokenizer_of(gpt2), AutoTokenizer.from_pretrained(gpt2)
    assert_spelled_alike(ours, theirs)
    assert ours.size == len(theirs) == 400 and ours.eos_id == theirs.eos_token_id == 399
    assert {ours.pad_id, ours.unk_id, ours.bos_id} == {399}


def test_their_vocabulary_and_merges_spell_the_same_here(pieces):
    from transformers import GPT2Tokenizer

    ours, theirs = tokenizer_of(pieces), GPT2Tokenizer.from_pretrained(pieces)
    assert_spelled_alike(ours, theirs)
    assert ours.size == 400 and ours.eos_id == theirs.eos_token_id == 399
    (pieces / "merges.txt").write_bytes((pieces / "merges.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert tokenizer_of(pieces).encode_batch(MIXED) == ours.encode_batch(MIXED)


def test_a_space_that_is_put_first_is_put_first(pieces):
    from transformers import GPT2Tokenizer

    (pieces / "tokenizer_config.json").write_text(json.dumps({"add_prefix_space": True}))
    ours, theirs = tokenizer_of(pieces), GPT2Tokenizer.from_pretrained(pieces, add_prefix_space=True)
    assert ours.encode_batch(MIXED) == [theirs(text)["input_ids"] for text in MIXED]
    assert ours.encode("dog").ids == ours.encode(" dog").ids


def test_tokens_that_were_added_are_read(pieces, tmp_path):
    from transformers import GPT2Tokenizer

    (pieces / "added_tokens.json").write_text(json.dumps({"<pad>": 400}))
    with pytest.raises(CheckpointError) as error:
        read(pieces)
    assert str(error.value) == (
        f"{pieces}/config.json: the model has 400 tokens, but the tokenizer 401; put the tokenizer it was trained "
        f"with beside it."
    )
    their_folder(tmp_path / "grown", vocab_size=401)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tmp_path / "grown" / name, pieces / name)
    ours, theirs = tokenizer_of(pieces), GPT2Tokenizer.from_pretrained(pieces, pad_token="<pad>")
    assert (ours.pad_id, ours.bos_id, ours.eos_id, ours.suppressed_ids) == (theirs.pad_token_id, 399, 399, (400,))


@pytest.mark.parametrize("kind", ["AutoTokenizer", "PreTrainedTokenizerFast", "GPT2Tokenizer"])
def test_our_byte_level_tokenizer_spells_the_same_there(kind, tmp_path):
    import transformers

    ours = train_tokenizer(TEXTS, TokenizerSettings(size=500, pretokenizer="byte-level"))
    write(small_language_bundle(ours), tmp_path / "hf")
    theirs = getattr(transformers, kind).from_pretrained(tmp_path / "hf")
    assert_spelled_alike(ours, theirs)
    assert len(theirs) == ours.size
    assert (theirs.pad_token_id, theirs.unk_token_id, theirs.bos_token_id, theirs.eos_token_id) == (0, 1, 2, 3)
    specials = "<|endoftext|> </s> <s><pad>"
    if kind != "GPT2Tokenizer":
        assert theirs(specials)["input_ids"] == ours.encode(specials).ids
    assert tokenizer_of(tmp_path / "hf").to_json() == ours.to_json()


@pytest.mark.parametrize("settings", [{"kind": "bpe"}, {"kind": "unigram"}, {"kind": "char"}], ids=str)
def test_other_kinds_spell_the_same_there(settings, tmp_path):
    from transformers import AutoTokenizer

    ours = train_tokenizer(TEXTS, TokenizerSettings(size=600, min_frequency=1, **settings))
    write(small_language_bundle(ours), tmp_path / "hf")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "hf")
    assert ours.encode_batch(MIXED) == [theirs(text)["input_ids"] for text in MIXED]
    assert tokenizer_of(tmp_path / "hf").to_json() == ours.to_json()


def test_words_are_cut_by_the_pattern_of_gpt2(gpt2):
    import regex

    alphabet = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for tokenizer in (
        tokenizer_of(gpt2),
        train_tokenizer(TEXTS, TokenizerSettings(size=300, pretokenizer="byte-level")),
    ):
        for text in filter(None, MIXED):
            expected = [alphabet.pre_tokenize_str(word)[0][0] for word in regex.findall(PATTERN, text)]
            assert [word for word, _ in tokenizer.backend.pre_tokenizer.pre_tokenize_str(text)] == expected


def test_what_stands_before_a_text_stands_there_too(gpt2, tmp_path):
    from transformers import AutoTokenizer

    for number, ours in enumerate((tokenizer_of(gpt2), train_tokenizer(TEXTS, TokenizerSettings(size=300)))):
        folder = tmp_path / f"{number}"
        write(small_language_bundle(ours, {"add_bos": True}), folder)
        theirs = AutoTokenizer.from_pretrained(folder)
        assert [theirs(text)["input_ids"] for text in MIXED] == [
            [ours.eos_id, *ids] for ids in ours.encode_batch(MIXED)
        ]
        back = read(folder)
        assert back.facts["generate"]["add_bos"] is True
        assert json.loads(back.tokenizers["tokenizer"].to_json())["post_processor"] is None


def test_an_end_that_a_text_happens_to_hold_ends_nothing(gpt2):
    ours = tokenizer_of(gpt2)
    text = f"a {END} b{END}"
    assert ours.eos_id not in ours.encode(text).ids and ours.decode(ours.encode(text).ids) == text


def test_the_first_gpt_s_vocabulary_has_no_end(tmp_path):
    from transformers import OpenAIGPTTokenizer

    backend = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    backend.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=260, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    backend.train_from_iterator(TEXTS[-20:] + ["Ünïted she said: it's 12 o'clock."] * 3, trainer)
    folder = tmp_path / "gpt"
    their_folder(folder, "openai-gpt", vocab_size=backend.get_vocab_size(), eos_token_id=None, bos_token_id=None)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    backend.model.save(str(folder))
    theirs = OpenAIGPTTokenizer.from_pretrained(folder)
    texts = ["The DOG sleeps, it's old.", "Ünïted  she\n said: 12 o'clock", "quite 🙂 unknown", *NASTY]
    as_pieces = tokenizer_of(folder)
    theirs.save_pretrained(folder)
    assert (folder / "tokenizer.json").is_file()
    for ours in (as_pieces, tokenizer_of(folder)):
        assert ours.encode_batch(texts) == [theirs(text)["input_ids"] for text in texts]
        assert ours.size == len(theirs) and ours.specials == {theirs.unk_token_id}
        assert ours.eos_id in ours.encode(texts[2]).ids and ours.unk_id == ours.eos_id
        known = ours.encode(texts[0]).ids
        assert ours.decode(known) == theirs.decode(known)


def test_an_end_of_another_name_does_the_work_of_what_is_missing(tmp_path):
    import transformers

    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3, "b": 4}))
    backend.model.unk_token = "<unk>"
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    folder = tmp_path / "llama"
    their_folder(folder, "llama", vocab_size=5, eos_token_id=[2, 1], bos_token_id=1)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)
    ours = tokenizer_of(folder)
    assert (ours.pad_id, ours.unk_id, ours.bos_id, ours.eos_id) == (2, 0, 1, 2) and ours.suppressed_ids == (0, 1)
    assert (ours.encode("a c b").ids, ours.size) == ([3, 0, 4], 5)
    write(read(folder), tmp_path / "again")
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "again").eos_token_id == 2


def test_tokenizers_of_two_languages_round_trip(tmp_path):
    source, target = (train_tokenizer(TEXTS, TokenizerSettings(size=size)) for size in (280, 300))
    write_tokenizer(tmp_path, source, 64)
    assert read_tokenizers(tmp_path).keys() == {"tokenizer"}
    write_tokenizer(tmp_path / "target_tokenizer", target, 64)
    back = read_tokenizers(tmp_path)
    assert [back[role].encode_batch(NASTY) for role in ("source", "target")] == [
        each.encode_batch(NASTY) for each in (source, target)
    ]


def test_ids_must_be_those_of_the_model():
    tokenizer = train_tokenizer(TEXTS, TokenizerSettings(size=300))
    check_token_ids(tokenizer, tokenizer.size, "x")
    with pytest.raises(CheckpointError) as error:
        check_token_ids(tokenizer, 1234, "x", " for its source")
    assert str(error.value) == (
        f"x: the model has 1,234 tokens for its source, but the tokenizer {tokenizer.size}; put the tokenizer it was "
        "trained with beside it."
    )
    assert sorted(ids_in(json.loads(tokenizer.to_json())).values()) == list(range(tokenizer.size))

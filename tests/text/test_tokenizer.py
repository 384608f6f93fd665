import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.text.bpe_dropout import DropoutCorpus, DropoutEncoder
from regard.text.settings import TextSettings, TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer

TEXT = [
    "They play in the garden, and she played with them.",
    "He plays the piano; we like playing too.",
    "Play it again! Nobody has played it like that.",
    "Die Kinder spielen im Garten, während der Hund schläft.",
    "Größe, Straße, Übung: alles schön?",
] * 4

KINDS = [
    {"kind": "bpe", "size": 160},
    {"kind": "bpe", "size": 320, "pretokenizer": "byte-level"},
    {"kind": "wordpiece", "size": 220},
    {"kind": "unigram", "size": 120},
    {"kind": "word", "size": 200},
    {"kind": "char", "size": 100},
]


def trained(**changes) -> Tokenizer:
    return train_tokenizer(TEXT, TokenizerSettings(**changes))


BYTES = trained(kind="bpe", size=320, pretokenizer="byte-level")


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_training_text_comes_back(changes):
    tokenizer = trained(**changes)
    for line in TEXT:
        encoding = tokenizer.encode(line)
        assert tokenizer.unk_id not in encoding.ids
        # WordPiece does not say whether a space stood before ; or :
        decoded = tokenizer.decode(encoding.ids)
        assert (decoded.replace(" ;", ";").replace(" :", ":") if changes["kind"] == "wordpiece" else decoded) == line
    assert tokenizer.size <= changes["size"]


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_one_file_holds_everything(changes, tmp_path):
    tokenizer = trained(**changes, lowercase=True)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    for line in [*TEXT, "PLAY  it </s> again"]:
        assert again.encode(line) == tokenizer.encode(line)
    assert again.decode(again.encode("PLAY it").ids) == "play it"


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_training_repeats(changes):
    assert json.loads(trained(**changes).to_json()) == json.loads(trained(**changes).to_json())


@given(st.text())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_byte_level_returns_any_text(text):
    assert BYTES.decode(BYTES.encode(text).ids) == text


@pytest.mark.parametrize(
    "text", ["</s>", "<pad> <s>", "a<unk>b", "  two  spaces ", "\t\n", "日本語 é 👩‍👩‍👧", "\u2028", ""]
)
def test_byte_level_returns_nasty_text(text):
    encoding = BYTES.encode(text)
    assert BYTES.decode(encoding.ids) == text
    assert not BYTES.specials & set(encoding.ids)


def only_end_of_text() -> Tokenizer:
    """Return the bytes above with one special token, as GPT-2's tokenizer has it."""
    definition = json.loads(BYTES.to_json())
    definition["model"]["vocab"]["<|endoftext|>"] = definition["model"]["vocab"].pop("</s>")
    definition["added_tokens"] = [
        token | {"content": "<|endoftext|>"} for token in definition["added_tokens"] if token["content"] == "</s>"
    ]
    for token in ("<pad>", "<unk>", "<s>"):
        definition["model"]["vocab"][f"{token} no more"] = definition["model"]["vocab"].pop(token)
    return Tokenizer.parse(json.dumps(definition), "test")


def test_an_end_of_text_does_the_work_of_special_tokens_that_are_missing(tmp_path):
    tokenizer = only_end_of_text()
    assert tokenizer.pad_id == tokenizer.unk_id == tokenizer.bos_id == tokenizer.eos_id == 3
    assert (tokenizer.size, tokenizer.suppressed_ids) == (BYTES.size, ()) and BYTES.suppressed_ids == (0, 1, 2)
    ids = tokenizer.encode("a <|endoftext|> b").ids
    assert 3 not in ids and tokenizer.decode([3, *ids, 3, 3]) == "a <|endoftext|> b"
    tokenizer.save(tmp_path / "tokenizer.json")
    assert Tokenizer.load(tmp_path / "tokenizer.json").eos_id == 3


def test_a_tokenizer_without_special_tokens_is_refused():
    definition = json.loads(only_end_of_text().to_json())
    definition["added_tokens"] = []
    definition["model"]["vocab"]["end"] = definition["model"]["vocab"].pop("<|endoftext|>")
    with pytest.raises(DataError) as error:
        Tokenizer.parse(json.dumps(definition), "test")
    assert str(error.value) == "The tokenizer has no <pad> token, so it cannot be used for sequences."


def test_golden_a_bpe_keeps_play_as_one_piece_of_all_four_words():
    tokenizer = trained(kind="bpe", size=66)
    for word in ("play", "played", "plays", "playing"):
        pieces = tokenizer.encode(word).tokens
        assert pieces[0] == "▁play", pieces
    assert len(tokenizer.encode("playing").tokens) > 1


def test_golden_an_unseen_word_splits_into_known_pieces():
    tokenizer = trained(kind="bpe", size=160)
    encoding = tokenizer.encode("Gartenspielhunde")
    assert len(encoding.ids) > 1 and tokenizer.decode(encoding.ids) == "Gartenspielhunde"


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_offsets_point_into_the_text(changes):
    text = "Die Kinder spielen!"
    encoding = trained(**changes).encode(text)
    for piece, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        letters = piece.lstrip("▁Ġ#")
        assert text[start:end].lstrip() == letters.strip() or piece == "▁"  # a mark alone covers the letter behind it
    assert encoding.offsets[0][0] == 0 and encoding.offsets[-1] == (18, 19)


def test_an_unknown_character_shows_in_the_text():
    tokenizer = trained(kind="bpe", size=160)
    encoding = tokenizer.encode("play ξψ")
    assert encoding.ids.count(tokenizer.unk_id) == 1
    assert tokenizer.decode(encoding.ids).startswith("play") and "⁇" in tokenizer.decode(encoding.ids)


def test_special_tokens_have_fixed_places():
    tokenizer = trained(kind="word", size=50)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id) == (0, 1, 2, 3)
    assert tokenizer.decode([2, *tokenizer.encode("play").ids, 3, 0, 0]) == tokenizer.decode(
        tokenizer.encode("play").ids
    )


def test_batches_equal_single_texts():
    tokenizer = trained(kind="unigram", size=120)
    assert tokenizer.encode_batch(TEXT) == [tokenizer.encode(line).ids for line in TEXT]


def drawn(corpus, seed):
    ids, starts = corpus.encode(seed)
    return [ids[begin:end].tolist() for begin, end in itertools.pairwise(starts)]


def test_dropout_of_nothing_is_plain_bpe():
    for pretokenizer in ("metaspace", "byte-level"):
        tokenizer = trained(kind="bpe", size=400, pretokenizer=pretokenizer)
        lines = [*TEXT, "unseen ξψ words"]
        plain = [[*tokenizer.encode(line).ids, tokenizer.eos_id] for line in lines]
        assert drawn(DropoutCorpus(lines, DropoutEncoder(tokenizer, 0.0)), seed=5) == plain


def test_dropout_follows_its_seed_and_loses_no_text():
    tokenizer = trained(kind="bpe", size=160)
    corpus = DropoutCorpus(TEXT, DropoutEncoder(tokenizer, 0.3))
    plain = sum(len(tokenizer.encode(line).ids) + 1 for line in TEXT)
    first, other, again = (drawn(corpus, seed) for seed in (1, 2, 1))
    assert first == again != other
    assert drawn(DropoutCorpus(TEXT, DropoutEncoder(tokenizer, 0.3)), 2) == other  # whatever was drawn before
    assert sum(map(len, first)) > plain
    assert [tokenizer.decode(ids[:-1]) for ids in first] == TEXT


def test_the_same_line_is_split_differently_at_different_places():
    corpus = DropoutCorpus([TEXT[0]] * 10, DropoutEncoder(trained(kind="bpe", size=160), 0.5))
    assert len({tuple(ids) for ids in drawn(corpus, seed=1)}) > 5


def test_dropout_refuses_a_ready_made_model_it_would_split_wrongly():
    tokenizer = trained(kind="bpe", size=160)
    made = json.loads(tokenizer.backend.to_str())
    made["model"]["ignore_merges"] = True
    tokenizer.backend = type(tokenizer.backend).from_str(json.dumps(made))
    with pytest.raises(ConfigError) as error:
        DropoutEncoder(tokenizer, 0.1)
    assert str(error.value) == (
        "text.dropout: 0.1 is not supported for this tokenizer, which uses ignore_merges; set "
        "text.dropout=0, or let regard train the tokenizer."
    )


def test_dropout_needs_bpe():
    with pytest.raises(ConfigError, match=r"text.dropout: 0.1 needs a BPE tokenizer, and this is a WordLevel."):
        DropoutEncoder(trained(kind="word", size=50), 0.1)
    with pytest.raises(ValueError, match='dropout: 0.1 needs kind "bpe", not "word"'):
        TextSettings(kind="word", dropout=0.1)


def test_a_vocabulary_too_small_for_the_characters_is_refused():
    with pytest.raises(ConfigError) as error:
        trained(kind="bpe", size=20)
    assert str(error.value).startswith(
        "A vocabulary of 20 (size) is too small: this text's characters and the special tokens alone need"
    )
    assert str(error.value).endswith('or more, or text.pretokenizer="byte-level".')


def test_no_text_is_refused():
    with pytest.raises(DataError) as error:
        train_tokenizer(["", "  "], TokenizerSettings())
    assert str(error.value) == "There is no text to train a tokenizer on; give files that are not empty."


def test_bytes_are_for_bpe():
    with pytest.raises(ValueError, match='pretokenizer: "byte-level" goes with kind "bpe" only, not with "word"'):
        TokenizerSettings(kind="word", pretokenizer="byte-level")


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    with pytest.raises(DataError) as error:
        Tokenizer.load(path)
    assert str(error.value) == f"{path}: there is no tokenizer file here; check the path."
    path.write_text("{}")
    with pytest.raises(DataError, match="this is not a tokenizer.json"):
        Tokenizer.load(path)


def test_a_ready_made_tokenizer_that_was_saved_with_a_length_cuts_and_pads_nothing():
    tokenizer = train_tokenizer(["eins zwei drei"] * 5, TokenizerSettings(size=300, pretokenizer="byte-level"))
    whole = tokenizer.encode("eins zwei drei " * 50).ids
    tokenizer.backend.enable_truncation(8)
    tokenizer.backend.enable_padding(length=8)
    loaded = Tokenizer.parse(tokenizer.to_json(), "saved")
    assert loaded.encode("eins zwei drei " * 50).ids == whole
    assert list(map(len, loaded.encode_batch(["eins", "eins zwei drei " * 50])))[1] == len(whole)
    assert loaded.encode_batch(["eins"]) == [loaded.encode("eins").ids]

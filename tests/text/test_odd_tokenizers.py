"""A tokenizer.json that is odd, and a text that is none, are one sentence, whatever the library does about them."""

import json
import os

import pytest

from commands import outside
from regard.errors import DataError
from regard.text.native_errors import explaining, silent_panics
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer

SPECIAL = {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3}
VOCABULARY = SPECIAL | {"a": 4, "b": 5}
WORDS = {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "<unk>"}
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def definition(**changes):
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": WORDS,
    } | changes


def refusal(text) -> str:
    with pytest.raises(DataError) as caught:
        Tokenizer.parse(text if isinstance(text, str) else json.dumps(text), "t.json")
    assert "\n" not in str(caught.value) and str(caught.value).startswith("t.json: ")
    return str(caught.value).removeprefix("t.json: ")


ODD = {
    "a panic at load": (
        definition(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        'this is not a tokenizer.json (Precompiled: Error("Cannot parse precompiled_charsmap", line: 0, column: 0)); '
        "copy it again, or let regard train one.",
    ),
    "a panic in use": (
        definition(pre_tokenizer={"type": "FixedLength", "length": 0}),
        "this tokenizer cannot be used (chunk size must be non-zero); copy it again, or let regard train one.",
    ),
    "no unknown word": (
        definition(model=WORDS | {"unk_token": "[UNK]"}),
        'its unk_token "[UNK]" is not in its vocabulary, so unknown text fails; add it there.',
    ),
    "no unknown piece": (
        definition(
            model=WORDS
            | {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##"}
            | {"max_input_chars_per_word": 9}
        ),
        'its unk_token "?" is not in its vocabulary, so unknown text fails; add it there.',
    ),
    "no unknown letter": (
        definition(model={"type": "BPE", "vocab": VOCABULARY, "merges": [], "unk_token": "?"}),
        'its unk_token "?" is not in its vocabulary, so unknown text fails; add it there.',
    ),
    "no unknown number": (
        definition(model={"type": "Unigram", "vocab": [[piece, -1.0] for piece in VOCABULARY], "unk_id": None}),
        "its unigram model has no unk_id, so unknown text fails; give it one.",
    ),
    "a huge id": (
        definition(model=WORDS | {"vocab": VOCABULARY | {"c": 2**32 - 1}}),
        'the id of "c" is 4,294,967,295, and ids are below 16,777,216.',
    ),
    "deep": ("[" * 100_000, "this is not a tokenizer.json (nested more than 100 levels deep)."),
    "a long integer": (
        '{"version": ' + "9" * 5000 + "}",
        "this is not a tokenizer.json (an integer with too many digits).",
    ),
    "a number": ("5", "this is not a tokenizer.json ("),
    "nothing": ("", "this is not a tokenizer.json (line 1: Expecting value)."),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_tokenizer_is_refused_when_it_is_read_and_rust_stays_silent(case, capfd):
    text, sentence = ODD[case]
    assert refusal(text).startswith(sentence)
    assert capfd.readouterr().err == ""


def test_a_panic_on_the_command_line_is_one_sentence(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(ODD["a panic at load"][0]))
    found = outside("tokenizer", "show", tmp_path / "t.json", "a b")
    assert found.returncode == 2 and found.stderr.count("\n") == 1 and found.stderr.startswith("regard: ")


def test_a_file_that_is_no_plain_one_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**30)
    reasons = {"pipe": "not a plain file", "bytes": "not UTF-8", "huge": "1,073,741,824 bytes are too many"}
    for name, reason in reasons.items():
        with pytest.raises(DataError) as caught:
            Tokenizer.load(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: this is not a tokenizer.json ({reason})."


def test_a_text_that_is_none_is_named():
    tokenizer = Tokenizer.parse(json.dumps(definition()), "t.json")
    sentence = (
        "text 2 holds a lone surrogate (\\ud800) at character 3, so it is not Unicode text; remove it, or read the "
        "text as UTF-8."
    )
    odd = ["a", "a \ud800"]
    settings = [TokenizerSettings(kind=kind) for kind in ("bpe", "wordpiece", "unigram", "word", "char")]
    for call in (
        tokenizer.encode_batch,
        tokenizer.encode_with_offsets,
        lambda texts: tokenizer.encode_words([texts]),
        *(lambda texts, each=each: train_tokenizer(texts, each) for each in settings),
    ):
        with pytest.raises(DataError) as caught:
            call(odd)
        assert str(caught.value) == sentence
    with pytest.raises(DataError, match="^text 1 is of the type int; give strings.$"):
        train_tokenizer([5], TokenizerSettings())
    for call in (tokenizer.encode, tokenizer.words, tokenizer.word_ids):
        with pytest.raises(DataError, match="^text 1 holds a lone surrogate "):
            call("\udfff")


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram", "word", "char"])
@pytest.mark.parametrize("text", ["a", "\x00\x01 \x7f", "\u200b\ufeff", "\u0301", "!!!", "<s> </s>", "\U0010ffff"])
def test_training_on_odd_text_gives_a_tokenizer_or_a_sentence(kind, text):
    try:
        tokenizer = train_tokenizer([text], TokenizerSettings(kind=kind, size=50))
        tokenizer.decode(tokenizer.encode(text).ids)
    except DataError as error:
        assert str(error).endswith("give other text, or another size.")


def test_what_is_no_panic_passes(capfd):
    with pytest.raises(KeyboardInterrupt), explaining("x"), silent_panics():
        raise KeyboardInterrupt
    with silent_panics():
        os.write(2, b"a warning")
    assert capfd.readouterr().err == "a warning"

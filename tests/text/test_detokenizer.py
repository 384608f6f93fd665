"""Text behind text: piece by piece it is the whole, no character is shown in parts, and stops are not overrun."""

import random

import pytest

from generators import tokenizer_of
from regard.text.detokenizer import Detokenizer, text_after
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

WORDS = "Anna, größer — 日本語 😀👩‍👩‍👧 e\u0301 ﷽\n\n\tfoo  bar. Don't"
STOPS = ["\n\n", "日語", "bar", "b"]


@pytest.fixture(scope="module", params=["byte-level", "metaspace", "wordpiece", "unigram", "word", "char"])
def tokenizer(request):
    if request.param in ("byte-level", "metaspace"):
        return tokenizer_of(request.param)
    return train_tokenizer([WORDS * 3, "Anna had a dog. " * 9], TokenizerSettings(kind=request.param, size=200))


def written(tokenizer, prompt, before, ids, stops=()):
    writer = Detokenizer(tokenizer, prompt, before, stops)
    pieces = []
    for token in ids:
        pieces.append(writer.write(token))
        if writer.is_stopped:
            break
    return [*pieces, writer.close()]


@pytest.mark.parametrize("prompt", ["", "Anna", "Anna had ", "日本"])
def test_pieces_make_the_whole(tokenizer, prompt):
    before = [tokenizer.eos_id, *tokenizer.encode(prompt).ids]
    for ids in (tokenizer.encode(WORDS).ids, tokenizer.encode(WORDS * 9).ids):
        assert "".join(written(tokenizer, prompt, before, ids)) == text_after(tokenizer, prompt, before, ids)


def test_pieces_of_any_tokens_make_the_whole(tokenizer):
    """Random bytes are hardly ever characters."""
    draw = random.Random(1)
    known = [number for number in range(tokenizer.size) if number not in tokenizer.specials]
    for _ in range(20):
        before, ids = ([draw.choice(known) for _ in range(count)] for count in (draw.randrange(1, 30), 200))
        before = tokenizer.encode(tokenizer.decode(before)).ids  # a prompt is text
        assert "".join(written(tokenizer, "", before, ids)) == text_after(tokenizer, "", before, ids)


def test_characters_are_never_shown_in_parts():
    tokenizer = tokenizer_of("byte-level")
    ids = tokenizer.encode(WORDS).ids
    pieces = written(tokenizer, "", [tokenizer.eos_id], ids)
    assert "".join(pieces) == WORDS and not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)
    assert "" in pieces  # the first bytes of a character


def test_a_prompt_and_what_follows_join_to_one_text(tokenizer):
    for prompt in ("Anna had", "Anna had "):
        ids = tokenizer.encode("Anna had a dog.").ids
        before = tokenizer.encode("Anna had").ids
        if ids[: len(before)] == before and prompt + text_after(tokenizer, prompt, before, ids[len(before) :]):
            found = text_after(tokenizer, prompt, before, ids[len(before) :])
            assert prompt + found == tokenizer.decode(ids) or tokenizer.kind in ("Unigram", "WordLevel", "BPE")
    marked = tokenizer_of("metaspace")
    before, new = marked.encode("Anna had").ids, marked.encode("a dog.").ids
    assert text_after(marked, "Anna had", before, new) == " a dog."
    assert text_after(marked, "Anna had ", before, new) == "a dog."


@pytest.mark.parametrize("stop", [*STOPS, "👧 e", "Don't", "a, g"])
def test_what_is_shown_ends_before_a_stop_that_spans_tokens(stop):
    tokenizer = tokenizer_of("byte-level")
    for text in (WORDS, WORDS.replace("日本語", "日日語語"), WORDS.replace("\n\n", "\n \n\n")):
        if stop not in text:
            continue
        pieces = written(tokenizer, "", [tokenizer.eos_id], tokenizer.encode(text).ids, [stop, "nowhere"])
        assert "".join(pieces) == text[: text.index(stop)]


def test_what_may_begin_a_stop_is_held_back():
    tokenizer = tokenizer_of("byte-level")
    writer = Detokenizer(tokenizer, "", [], ["xyz", "yyy"])
    shown = [writer.write(tokenizer.encode(letter).ids[0]) for letter in "axybyyxyz"]
    assert shown == ["a", "", "", "xyb", "", "", "yy", "", ""] and writer.is_stopped and writer.close() == ""
    writer = Detokenizer(tokenizer, "", [], ["xyz"])
    assert [writer.write(tokenizer.encode(letter).ids[0]) for letter in "axy"] == ["a", "", ""]
    assert writer.close() == "xy" and writer.close() == ""

"""Whatever stands in the manifest of tokenized text, nothing outside of its folder is read, and text is made anew."""

import json
import os

import numpy as np
import pytest

from regard import miniature
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.errors import DataError
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

SENTENCES = [pair.target for pair in miniature.pairs("train", 60)]
TOKENIZER = train_tokenizer(SENTENCES, TokenizerSettings(size=200))


@pytest.fixture
def place(tmp_path) -> TextSource:
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES))
    return TextSource(paths=(str(tmp_path / "text.txt"),))


@pytest.fixture
def shards(tmp_path, place):
    tokenize(place, TOKENIZER, tmp_path / "shards")
    return tmp_path / "shards"


ODD = [None, [], {}, "x", 1.5, -1, 10**30, True, [["x"]], [["../../victim", 0, 1]]]


@pytest.mark.parametrize(
    "field", ["tokenizer", "reading", "shards", "inputs", "made", "format", "spans", "glance", "limit"]
)
def test_a_manifest_of_other_types_is_made_anew(shards, place, field):
    before = tokenize(place, TOKENIZER, shards).read(0, 50).tolist()
    whole = (shards / "manifest.json").read_text()
    for value in ODD:
        book = json.loads(whole)
        (book if field in book else next(iter(book["inputs"].values())))[field] = value
        (shards / "manifest.json").write_text(json.dumps(book))
        assert tokenize(place, TOKENIZER, shards).read(0, 50).tolist() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 9000, "null", "\ud800"])
def test_a_manifest_that_is_something_else_is_made_anew(shards, place, text):
    before = tokenize(place, TOKENIZER, shards).read(0, 50).tolist()
    (shards / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert tokenize(place, TOKENIZER, shards).read(0, 50).tolist() == before


@pytest.mark.parametrize("name", ["../../victim", "/tmp/victim", "000000\n"])
def test_no_shard_lies_outside_of_its_folder(tmp_path, shards, place, name):
    victim = tmp_path / "victim.ids.npy"
    np.save(victim, np.zeros(3, np.uint16))
    book = json.loads((shards / "manifest.json").read_text())
    next(iter(book["inputs"].values()))["spans"] = [[name, 0, 1]]
    book["shards"] = {name: 1}
    (shards / "manifest.json").write_text(json.dumps(book))
    corpus = tokenize(place, TOKENIZER, shards)
    assert {segment.shard for segment in corpus.segments} == {"000000"} and victim.is_file()


def test_shards_of_the_same_size_and_other_contents_are_a_sentence(shards, place):
    pieces = next(shards.glob("*.pieces.npy"))
    whole = pieces.read_bytes()
    for contents in (bytes(len(whole)), whole[:128] + b"\xff" * (len(whole) - 128), whole[::-1]):
        pieces.write_bytes(contents)
        with pytest.raises(DataError, match="this part of the tokenized text is missing or damaged"):
            tokenize(place, TOKENIZER, shards)


def test_a_pipe_in_the_place_of_a_manifest_is_never_waited_for(shards, place):
    (shards / "manifest.json").unlink()
    os.mkfifo(shards / "manifest.json")
    assert len(tokenize(place, TOKENIZER, shards)) > 50

"""Whatever bytes a user's file holds, a reader returns rows or raises a RegardError."""

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.bounds import fuzzed, only_mistakes
from fuzz.mutations import damaged_bytes, tables
from fuzz.mutations import objects as odd_objects
from mistakes.table import CHOICES, CONLL, PAIRS, QUESTIONS, RATED, REVIEWS, STORIES, TAGGED, objects, table
from regard.data.settings.examples import ChoiceSource, LabelSource, QuestionSource, TagSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.data.sources.conll import read_tagged
from regard.data.sources.documents import file_chunks
from regard.data.sources.labeled import read_labeled
from regard.data.sources.lines import read_lines
from regard.data.sources.multiple_choice import read_choices
from regard.data.sources.pairs import read_pairs
from regard.data.sources.squad import read_questions
from regard.data.sources.text_files import read_documents
from regard.interop.word_vector_files import read_word_vectors
from regard.pipelines.text_tables import read_text_table
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.word_vectors.evaluate import read_questions as read_analogies
from regard.tasks.word_vectors.evaluate import read_rated_pairs
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer

SQUAD = (
    b'{"data": [{"paragraphs": [{"context": "it is anna .", "qas": [{"id": "1", "question": "who ?", '
    b'"answers": [{"text": "anna", "answer_start": 6}]}]}]}]}'
)
RECIPE = b'task = "classify"\n[data.train]\npath = "a.csv"\n[model]\npreset = "gpt-tiny"\n[train]\nsteps = 10\n'


def _documents(path: Path, documents: str) -> list[str]:
    return list(read_documents(TextSource(paths=(str(path),), documents=documents)))


def _tokenizer(path: Path) -> object:
    tokenizer = Tokenizer.load(path)
    ids = tokenizer.encode_batch(["The dog sleeps.", "", "²\u2028 漢"])
    return tokenizer.decode_batch(ids)


READERS: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "lines": ("a.txt", STORIES, read_lines),
    "pairs tsv": ("a.tsv", b"eins\tone\nzwei\ttwo\n", lambda path: read_pairs(PairSource(path=str(path)))),
    "pairs csv": ("a.csv", table(PAIRS[:3]), lambda path: read_pairs(PairSource(path=str(path)))),
    "pairs jsonl": ("a.jsonl", objects(*PAIRS[:3]), lambda path: read_pairs(PairSource(path=str(path)))),
    "labels csv": ("a.csv", table(REVIEWS[:9]), lambda path: read_labeled(LabelSource(path=str(path)))),
    "labels tsv": ("a.tsv", b"text\tlabel\nfine\tpos\n", lambda path: read_labeled(LabelSource(path=str(path)))),
    "labels jsonl": ("a.jsonl", objects(*REVIEWS[:3]), lambda path: read_labeled(LabelSource(path=str(path)))),
    "labels json": (
        "a.json",
        b'[{"text": "a", "label": "b"}]',
        lambda path: read_labeled(LabelSource(path=str(path))),
    ),
    "numbers csv": (
        "a.csv",
        table(RATED[:9]),
        lambda path: read_labeled(LabelSource(path=str(path)), is_number=True),
    ),
    "numbers jsonl": (
        "a.jsonl",
        objects(*RATED[:3]),
        lambda path: read_labeled(LabelSource(path=str(path)), is_number=True),
    ),
    "choices": ("a.jsonl", objects(*CHOICES[:3]), lambda path: read_choices(ChoiceSource(path=str(path)))),
    "choices csv": (
        "a.csv",
        b"context,choice_0,choice_1,label\nit is,good,bad,0\n",
        lambda path: read_choices(ChoiceSource(path=str(path))),
    ),
    "questions": ("a.jsonl", objects(*QUESTIONS[:3]), lambda path: read_questions(QuestionSource(path=str(path)))),
    "squad": ("a.json", SQUAD, lambda path: read_questions(QuestionSource(path=str(path)))),
    "conll": ("a.conll", CONLL[:200], lambda path: read_tagged(TagSource(path=str(path)))),
    "tags jsonl": ("a.jsonl", objects(*TAGGED[:3]), lambda path: read_tagged(TagSource(path=str(path)))),
    "tags csv": (
        "a.csv",
        b"tokens,tags\n\"['anna', 'sleeps']\",\"['B-PER', 'O']\"\n",
        lambda path: read_tagged(TagSource(path=str(path))),
    ),
    "documents": ("a.txt", STORIES[:300], lambda path: _documents(path, "blank-lines")),
    "documents by line": ("a.txt", STORIES[:300], lambda path: _documents(path, "lines")),
    "whole documents": ("a.txt", STORIES[:300], lambda path: _documents(path, "file")),
    "documents jsonl": ("a.jsonl", b'{"text": "a b"}\n', lambda path: _documents(path, "file")),
    "documents csv": ("a.csv", b"text\na b\n", lambda path: list(file_chunks(path, TextSource(paths=(str(path),))))),
    "table of texts": ("a.csv", table(REVIEWS[:9]), lambda path: read_text_table(str(path), [], 1)),
    "word vectors": ("a.txt", b"2 3\nthe 0.1 0.2 0.3\ndog 1 2 3\n", read_word_vectors),
    "binary word vectors": ("a.bin", b"1 2\nthe \x00\x00\x80?\x00\x00\x00@\n", read_word_vectors),
    "analogies": ("a.txt", b": family\nboy girl king queen\n", read_analogies),
    "ratings": ("a.txt", b"tiger\tcat\t7.35\n", read_rated_pairs),
    "recipe": ("a.toml", RECIPE, lambda path: resolve_run(find_recipe(str(path)), {})),
    "tokenizer": (
        "tokenizer.json",
        train_tokenizer(["the dog sleeps"] * 9, TokenizerSettings(size=60)).to_json().encode(),
        _tokenizer,
    ),
}
"""Every reader of a user's file: what a good one is called and holds, and how it is read."""

NAMES = ["text", "label", "source", "target", "question", "context", "answers", "choices", "tokens", "tags"]


@pytest.mark.parametrize("name", READERS)
def test_a_good_file_is_read(name, tmp_path):
    file, good, read = READERS[name]
    (tmp_path / file).write_bytes(good)
    assert read(tmp_path / file) is not None


@pytest.mark.parametrize("name", READERS)
@fuzzed(25)
@given(data=st.data())
def test_any_bytes_are_rows_or_a_mistake(name, data):
    file, good, read = READERS[name]
    others = [tables(), odd_objects(NAMES)] if file.endswith((".csv", ".tsv", ".jsonl", ".conll")) else []
    content = data.draw(st.one_of(damaged_bytes(good), *others))
    if data.draw(st.integers(0, 9)) == 0:
        content = gzip.compress(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_bytes(content)
        with only_mistakes():
            read(path)

"""Tasks on running text: how their texts are counted in cards, found, and tokenized again for other models."""

from types import SimpleNamespace

import pytest

from regard.progress import SILENT
from regard.tasks.contract import find_task
from regard.tasks.data import EvalSet
from regard.tasks.text import corpora
from regard.tasks.text.task import TextTask
from run_records import SOURCES, card_of, cells, run_record

DATA = {"language-model": {}, "masked-language-model": {}, "elmo": {"vocabulary": 500, "window": 16}}
UNITS = {"language-model": "tokens", "masked-language-model": "tokens", "elmo": "characters"}


@pytest.mark.parametrize("name", DATA)
def test_the_card_lists_the_size_of_every_set(name):
    task = find_task(name)
    assert isinstance(task, TextTask)
    lines = task.describe(card_of(run_record(name, DATA[name], sources=SOURCES | {"sentences": "marks"})))
    assert lines[2].split("|")[1:-1] == [
        f" {title} " for title in ("set", "from", "documents", UNITS[name], "bytes", "words")
    ]
    assert cells(lines, "train")[2:] == ["1,200", "34,567", "98,765", "23,456"]


@pytest.mark.parametrize("name", DATA)
def test_a_text_is_tokenized_for_each_model_with_its_own_rules(name, tmp_path, monkeypatch):
    task, given = find_task(name), []
    monkeypatch.setattr(corpora, "retokenized", lambda *parts: given.append(parts) or "again")
    facts = {"length": 8, "sentences": "lines"} if name == "masked-language-model" else {}
    pipeline = SimpleNamespace(tokenizer="own", bundle=SimpleNamespace(facts=facts, head=None))
    chosen = EvalSet("a", [])
    assert task.for_model(pipeline, chosen, tmp_path, SILENT) == "again"
    rule = "lines" if name == "masked-language-model" else None
    assert given == [(chosen, "own", tmp_path, SILENT, rule)] and task.sentences(pipeline) == rule

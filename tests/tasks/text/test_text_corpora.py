"""Tokenized corpora of a run: folders, reports, and the sets that are scored on."""

import json

import pytest
import torch

from generators import tokenizer_of
from regard.data.corpus.splits import tokenize_all
from regard.data.settings.text import TextData, TextSource
from regard.errors import DataError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.text.corpora import (
    corpora_report,
    corpus_folder,
    corpus_sets,
    scoring_machine,
    text_report,
    text_rows,
    text_sets,
    validation_corpus,
)
from regard.text.settings import CorpusTextSettings
from run_records import run_record

STORIES = {"data.train": {"paths": ["miniature:train"], "max_rows": 300}}


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of(size=300)


def text_data(folder, **texts):
    """Write texts to files and return settings that name them; `test_x` is the test set x."""
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    source = lambda name: {"paths": [str(folder / f"{name}.txt")]}
    tests = {name.removeprefix("test_"): source(name) for name in texts if name.startswith("test_")}
    data = {name: source(name) for name in texts if not name.startswith("test_")} | {"test": tests}
    return TextData.model_validate_json(json.dumps(data))


def test_the_folder_follows_from_the_text_and_its_tokenization():
    def folder(**changes):
        settings = resolve_run(find_recipe("language-model"), STORIES | changes).settings
        return corpus_folder(settings.data, settings.text, settings.init_from)

    assert folder() == folder(**{"train.steps": 7, "model.width": 64}) != folder(**{"text.size": 999})
    assert folder().parts[0] == "corpora" and folder().name.startswith("miniature-train-")


def test_a_pretrained_model_has_a_folder_of_its_own_and_a_named_folder_holds(tmp_path):
    data, text = text_data(tmp_path, train="One.\n"), CorpusTextSettings()
    assert corpus_folder(data, text) != corpus_folder(data, text, "gpt") != corpus_folder(data, text, "other")
    named = data.model_copy(update={"folder": str(tmp_path / "here")})
    assert corpus_folder(named, text) == corpus_folder(named, text, "gpt") == tmp_path / "here"


def test_the_report_counts_every_set_and_its_hash_ignores_test_sets(tmp_path, tokenizer):
    data = text_data(tmp_path, train="Anna had a dog.\n", valid="He ran.\n", test_own="She sang.\n")
    corpora = tokenize_all(data, tokenizer, tmp_path / "corpus")
    report = corpora_report(corpora)
    assert list(corpus_sets(corpora)) == ["train", "valid", "test own"] and set(report) == {
        *corpus_sets(corpora),
        "hash",
    }
    assert report["train"]["words"] == 4 and report["test own"]["bytes"] == len("She sang.\n")
    (tmp_path / "test_own.txt").write_text("Other text.\n")
    other_test = corpora_report(tokenize_all(data, tokenizer, tmp_path / "corpus"))
    assert other_test["hash"] == report["hash"] and other_test["test own"] != report["test own"]
    (tmp_path / "valid.txt").write_text("They ran.\n")
    assert corpora_report(tokenize_all(data, tokenizer, tmp_path / "corpus"))["hash"] != report["hash"]


def test_a_run_is_scored_on_its_test_sets_or_else_on_its_validation_set(tmp_path, tokenizer):
    data = text_data(tmp_path, train="Anna had a dog.\n", valid="He ran.\n", test_own="She sang.\n")
    folder = tmp_path / "corpus"

    def scored(data, source=None):
        record = run_record("language-model", {"folder": str(folder)}, sources=data.model_dump(mode="json"))
        return text_sets(source, record, TextData, tokenizer, tmp_path / "aside")

    own, other = scored(data), TextSource(paths=(str(tmp_path / "train.txt"),))
    assert list(own) == ["own"] and own["own"].rows.counts.words == 2 and (folder / "test-own").is_dir()
    assert list(scored(data.model_copy(update={"test": {}}))) == ["valid"]
    (given,) = scored(data, other).items()
    assert given[0] == other.name and given[1].rows.counts.words == 4 and (tmp_path / "aside").is_dir()


def test_the_validation_text_is_that_of_the_run_or_is_gone(tmp_path, tokenizer):
    data = text_data(tmp_path, train="Anna had a dog.\n", valid="He ran.\n")
    expected = tokenize_all(data, tokenizer, tmp_path / "corpus").valid
    record = lambda name: run_record(
        "language-model", {"folder": str(tmp_path / name)}, sources=data.model_dump(mode="json")
    )
    assert validation_corpus(record("corpus"), tokenizer).fingerprint == expected.fingerprint
    with pytest.raises(DataError, match="gone: the tokenized text of runs/one is not here any more"):
        validation_corpus(record("gone"), tokenizer)


def test_a_card_lists_the_sources_and_counts_of_every_set():
    record = run_record("language-model", {"test news": {"documents": 1, "tokens": 2, "bytes": 3, "words": 4}})
    assert text_report(record).window == 32
    rows = {name: [str(cell) for cell in cells] for name, *cells in text_rows(record)}
    assert rows["train"] == ["`books` (at most 300)", "1,200", "34,567", "98,765", "23,456"]
    assert rows["valid"][0] == "held out of train" and rows["test news"] == ["`news.txt`", "1", "2", "3", "4"]


def test_scores_are_computed_in_fp32_on_the_device_of_the_model():
    machine = scoring_machine(torch.device("cpu"))
    assert machine.device.type == "cpu" and machine.precision == "fp32"

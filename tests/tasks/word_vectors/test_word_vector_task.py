"""The task vectors: settings, preparation, checks, card and maps, without a training."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from golden_vectors import GOLDEN
from regard.checkpoint.bundle import Bundle, write_bundle
from regard.errors import ConfigError, DataError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model
from regard.models.word_vectors import WordVectorSettings
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT
from regard.tasks.declarations import Context
from regard.tasks.word_vectors.card import data_section
from regard.tasks.word_vectors.checks import word_findings
from regard.tasks.word_vectors.init_from import init_vectors
from regard.tasks.word_vectors.map import plot_map, project
from regard.tasks.word_vectors.prepare import vocabulary_of
from regard.tasks.word_vectors.records import WordReport
from regard.tasks.word_vectors.settings import VectorEvaluationSettings, VectorSettings
from regard.tasks.word_vectors.task import TASK
from regard.text.word_vocabulary import table_tokenizer
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings
from run_records import card_of, cells, evaluated, run_record, scores_of

COUNTS = {"documents": 12, "tokens": 900, "bytes": 5000, "words": 800, "words_read": 1000, "pruned_below": None}
SOURCES = {"train": {"paths": ["books"]}}
SECTION = {"name": "all", "questions": 4, "covered": 2, "accuracy": 0.5}
CPU = prepare_machine(MachineSettings(device="cpu"))


def run_settings(path="books", **more):
    values = {"model": WordVectorSettings(width=4), "data": {"train": {"paths": [str(path)]}}} | more
    return VectorSettings[ModelSettings](**values)


def report(**counts):
    return WordReport(train=COUNTS | counts, vocabulary=50, folder="corpora/x", hash="c0ffee")


def findings(counts=None, **more):
    words = SimpleNamespace(settings=run_settings(**more), totals=report(**(counts or {})).train)
    return {each.name: each for each in word_findings(words)}


def tables(words, width=4):
    """Return the two random matrices of words with their tokenizer."""
    tokenizer = table_tokenizer(dict.fromkeys(words, 1))
    settings, vocabularies = WordVectorSettings(width=width), Vocabularies(len(words), len(words), is_shared=True)
    torch.manual_seed(0)
    model = build_model(settings, vocabularies)
    return Bundle("vectors", model, settings, vocabularies, {"tokenizer": tokenizer}, {"seed": 1})


@pytest.fixture
def golden():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32), "golden")


def test_a_trial_is_as_many_epochs_as_steps():
    assert run_settings().shortened(3) == {"train.steps": 3, "train.epochs": 3.0}


@pytest.mark.parametrize("words, severity", [(2_000_000, "ok"), (500_000, "note"), (1000, "warning")])
def test_few_words_are_graded(words, severity):
    few = findings({"words_read": words, "words": words})["few-words"]
    assert few.severity == severity and few.metrics["words"] == words and f"{words:,} words" in few.sentence


@pytest.mark.parametrize(
    "more, remedy",
    [
        ({"text": {"size": 100}}, "allow more words: text.size=200"),
        ({"text": {"min_count": 9}}, "take rarer words too: text.min_count=4"),
        ({"text": {"min_count": 1}}, "add text"),
    ],
)
def test_words_without_vectors_have_a_remedy(more, remedy):
    rare = findings(**more)["left-out-words"]
    assert rare.severity == "warning" and rare.metrics["fraction"] == pytest.approx(0.2)
    assert rare.sentence == "20.0 % of the text's words are too rare to have vectors, and are skipped."
    assert rare.way_out == remedy


def test_pruned_words_are_noted():
    assert "forgotten-words" not in findings()
    assert "those below 3 occurrences were pruned" in findings({"pruned_below": 3})["forgotten-words"].sentence


def test_words_are_counted_once(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("the dog saw the cat and the dog\n")
    settings = run_settings(tmp_path / "a.txt", text={"min_count": 2})
    tokenizer, counts, totals = vocabulary_of(settings, tmp_path / "corpus", SILENT)
    assert [tokenizer.vocabulary[number] for number in range(2)] == ["the", "dog"] and counts.tolist() == [3, 2]
    assert totals == {"words_read": 8, "pruned_below": 0}
    monkeypatch.setattr("regard.tasks.word_vectors.prepare.count_words", None)  # must not be called
    again = vocabulary_of(settings, tmp_path / "corpus", SILENT)
    assert again[0].to_json() == tokenizer.to_json() and np.array_equal(again[1], counts) and again[2] == totals
    (tmp_path / "corpus" / "word-counts.npy").write_bytes(b"damaged")
    with pytest.raises(TypeError):
        vocabulary_of(settings, tmp_path / "corpus", SILENT)


def test_the_plan_counts_words_with_vectors(tmp_path):
    (tmp_path / "a.txt").write_text("the dog saw the cat and the dog\n" * 3)
    data = {"train": {"paths": [str(tmp_path / "a.txt")]}, "folder": str(tmp_path / "corpus")}
    settings = run_settings(data=data, text={"min_count": 4})
    words = TASK.load_data(settings, context := Context(CPU))
    prepared = TASK.prepare(settings, words, TASK.build(settings, words, context), context)
    assert TASK.plan(prepared) == {"train_words": 15} and prepared.report.vocabulary == 2
    assert prepared.report.train.words_read == 24 and prepared.tests == {}
    with pytest.raises(DataError, match="no.txt: there is no such file"):
        TASK.load_data(run_settings(data=data, evaluation={"similarities": ("no.txt",)}), context)


def test_words_take_the_vectors_of_a_file_and_contexts_stay(golden, tmp_path):
    path = tmp_path / "golden.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in GOLDEN.items()))
    bundle = tables(["queen", "unheard", "man"])
    before, contexts = bundle.model.words.weight.clone(), bundle.model.contexts.weight.clone()
    facts = init_vectors(bundle.model, bundle.tokenizers["tokenizer"], str(path), SILENT)
    weight = bundle.model.words.weight
    assert torch.equal(weight[1], before[1]) and torch.equal(bundle.model.contexts.weight, contexts)
    np.testing.assert_allclose(weight[[0, 2]].detach(), [golden.vector("queen"), golden.vector("man")])
    assert facts["init_from"]["covered"] == 2 and len(facts["init_from"]["sha256"]) == 64


def test_words_take_both_vectors_of_a_run(tmp_path):
    other = tables(["man", "queen"])
    with torch.no_grad():
        other.model.contexts.weight.uniform_(1, 2)
    write_bundle(tmp_path / "run", other)
    bundle = tables(["unheard", "queen"])
    init_vectors(bundle.model, bundle.tokenizers["tokenizer"], str(tmp_path / "run"), SILENT)
    assert torch.equal(bundle.model.words.weight[1], other.model.words.weight[1])
    assert torch.equal(bundle.model.contexts.weight[1], other.model.contexts.weight[1])
    wide = tables(["queen"], width=5)
    with pytest.raises(ConfigError, match="model.width: 5 is not the dimension 4 of the vectors in .*model.width=4"):
        init_vectors(wide.model, wide.tokenizers["tokenizer"], str(tmp_path / "run"), SILENT)
    strange = tables(["unheard"])
    with pytest.raises(ConfigError, match="init_from: no word of the text has a vector in"):
        init_vectors(strange.model, strange.tokenizers["tokenizer"], str(tmp_path / "run"), SILENT)


def test_the_sets_are_the_files_given_or_those_that_the_settings_name(tmp_path):
    (tmp_path / "q.txt").write_text(": all\na b c d\n")
    (tmp_path / "p.txt").write_text("a b 1\n")
    names = {"analogies": str(tmp_path / "q.txt"), "similarities": [str(tmp_path / "p.txt")]}
    record = lambda **files: run_record(
        "vectors", {"train": COUNTS, "vocabulary": 5}, sources=SOURCES, evaluation=files
    )
    sets = TASK.eval_sets(None, None, record(**names), tmp_path, SILENT)
    assert sets["analogies"].rows == {"all": [("a", "b", "c", "d")]}
    assert sets[names["similarities"][0]].rows == [("a", "b", 1.0)]
    given = VectorEvaluationSettings(similarities=tuple(names["similarities"]))
    assert list(TASK.eval_sets(None, given, record(**names), tmp_path, SILENT)) == names["similarities"]
    assert TASK.eval_sets(None, None, record(), tmp_path, SILENT) == {}
    hashes = [TASK.set_hashes(each) for each in sets.values()]
    assert hashes[0] != hashes[1] and all(len(each["references"]) == 1 for each in hashes)


def test_the_card_has_tables_of_scores_and_the_sizes_of_the_text():
    values = evaluated("accuracy", accuracy=0.5, covered=2, questions=4, sections=[SECTION])
    record = run_record("vectors", {"train": COUNTS, "vocabulary": 50}, {"analogies": values}, SOURCES)
    lines = scores_of(record)
    assert "| all | 4 | 2 | 50.0 % |" in lines
    assert cells(lines, "analogies")[:4] == ["analogies", "2", "0.5000", "4"]
    assert "| `books` | 12 | 1,000 | 800 | 50 |" in TASK.describe(card_of(record)) == data_section(card_of(record))
    pruned = run_record("vectors", {"train": COUNTS | {"pruned_below": 3}, "vocabulary": 50}, None, SOURCES)
    assert "regard evaluate runs/one --analogies FILE" in scores_of(pruned)[-1]
    assert any("3 occurrences or fewer may have been pruned" in line for line in TASK.describe(card_of(pruned)))


def test_one_thread_on_a_cpu_repeats_to_the_bit():
    record = run_record("vectors", {"train": COUNTS, "vocabulary": 5}, sources=SOURCES)
    assert TASK.repeatability(record).endswith("the same to the bit.")
    several = record.model_copy(update={"machine": record.machine.model_copy(update={"threads": 2})})
    assert "without locks" in TASK.repeatability(several)


@pytest.mark.parametrize("width", [1, 2, 7])
def test_pca_keeps_the_directions_of_largest_variance(width):
    table = np.random.default_rng(0).normal(size=(40, width)) * np.arange(width, 0, -1)
    points = project(table, "pca")
    centered = table - table.mean(0)
    spectrum = np.linalg.svd(centered, compute_uv=False)[:2] if width > 1 else [np.linalg.norm(table), 0]
    np.testing.assert_allclose(np.linalg.norm(points, axis=0), spectrum, atol=1e-9)


def test_a_map_repeats_and_equal_vectors_are_one_point():
    table = np.random.default_rng(0).normal(size=(12, 3))
    assert np.array_equal(project(table, "tsne", seed=3), project(table, "tsne", seed=3))
    assert not project(np.ones((5, 3)), "tsne").any()


def test_a_map_is_a_picture_and_a_page(golden, tmp_path):
    picture, page = plot_map(golden, ["king", "queen"], 4, "pca", tmp_path / "new" / "map")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.name == "map.png"
    text = page.read_text(encoding="utf-8")
    assert all(json.dumps(word) in text for word in ("man", "woman", "king", "queen"))
    with pytest.raises(ConfigError, match="2 words make no map; name 3 to 5,000, or give --top 500"):
        plot_map(golden, ["king", "queen"], None, "pca", tmp_path / "map")
    with pytest.raises(ConfigError, match='method: "umap" is not one of pca, tsne'):
        plot_map(golden, [], 5, "umap", tmp_path / "map")
    broken = WordVectors(["a", "b", "c"], np.array([[1, 2], [np.nan, 1], [2, 1]], np.float32), "broken")
    with pytest.raises(DataError, match="broken: a vector of these words has a value that is not finite"):
        plot_map(broken, ["a", "b", "c"], None, "pca", tmp_path / "map")

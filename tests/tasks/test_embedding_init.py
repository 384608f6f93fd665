"""Word vectors as what other models begin with."""

import numpy as np
import pytest
import torch

import regard
from labeled import write_reviews
from regard import miniature
from regard.checkpoint.bundle import read_weights
from regard.errors import ConfigError
from regard.interop.word_vector_files import VectorTable, write_word_vectors
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.train import train
from regard.tasks.embedding_init import embedding_layer, fill_embeddings, freeze_embeddings
from regard.tasks.settings import EmbeddingInitSettings
from regard.text.settings import TokenizerSettings, WordSettings
from regard.text.training import train_tokenizer
from regard.text.word_vocabulary import splitter

TEXT = {
    "data.train.max_rows": 40,
    "data.valid.max_rows": 5,
    "data.test.test.max_rows": 5,
    "train.tokens_per_update": 300,
}
BRIEF = {"train.steps": 2, "train.warmup": 1, "train.validate_every": 1}


@pytest.fixture
def glove(tmp_path, monkeypatch):
    """Vectors for half of the words of the miniature world."""
    monkeypatch.chdir(tmp_path)
    split = splitter(WordSettings())
    words = sorted({word for text in miniature.texts("train", 40) for word in split(text)})[::2]
    vectors = np.random.default_rng(0).normal(2.0, 3.0, (len(words), 12)).astype(np.float32)
    write_word_vectors(tmp_path / "glove.txt", VectorTable(words, vectors), "glove")
    return tmp_path / "glove.txt"


def table_of(run):
    """The table of a run's latest checkpoint by word."""
    bundle = regard.load(run.latest).bundle
    weight = bundle.model.embedding.table.weight.detach()
    pieces = bundle.tokenizers["tokenizer"].vocabulary
    return {piece.lstrip("▁"): weight[number] for number, piece in pieces.items()}, bundle


@pytest.mark.parametrize("preset, sizes", [("gpt-tiny", (12, 3)), ("lstm-lm", None)])
@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_language_model_begins_with_vectors(glove, preset, sizes, is_frozen):
    said = []

    class Told(regard.progress.Progress):
        def info(self, message):
            said.append(message)

    small = {"model.width": 16} if sizes is None else {}
    changes = {**TEXT, **BRIEF, **small, "model.preset": preset, "init_from": str(glove), "vectors.freeze": is_frozen}
    run = train("language-miniature", changes, progress=Told())
    settings = run.record.settings.plain
    assert settings["text"]["kind"] == "word" and settings["text"]["lowercase"]
    if sizes:
        assert (settings["model"]["width"], settings["model"]["heads"]) == sizes
    else:
        assert settings["model"]["embedding_width"] == 12
    rows, bundle = table_of(run)
    words, vectors = (lambda it: (it.words, it.vectors))(regard.load(glove))
    known = [word for word in words if word in rows]
    assert len(known) > 20 and bundle.facts["vectors"]["covered"] == len(known)
    assert any(f"{len(known):,} of the" in sentence for sentence in said)
    ours = torch.stack([rows[word] for word in known])
    theirs = torch.from_numpy(vectors[[words.index(word) for word in known]])
    cosines = torch.nn.functional.cosine_similarity(ours, theirs)
    assert (cosines > 0.99999).all() if is_frozen else (cosines > 0.9).all() and (cosines < 0.9999999).any()


def test_a_frozen_table_stays_so_when_the_run_goes_on(glove):
    changes = {**TEXT, **BRIEF, "train.steps": 4, "init_from": str(glove), "vectors.freeze": True}
    run = Run(glove.parent / "run")
    execute(run, RunSpec(resolve_run(find_recipe("language-miniature"), changes), stop_at=1))
    before = read_weights(run.latest)
    resume(run.path)
    after = read_weights(run.latest)
    assert torch.equal(before["embedding.table.weight"], after["embedding.table.weight"])
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_translator_begins_with_vectors(glove):
    changes = {**BRIEF, "data.train.max_rows": 100, "data.valid.max_rows": 5, "validation.bleu_sentences": 0}
    changes |= {"init_from": str(glove), "text.vocabularies": "separate", "vectors.side": "target", "train.steps": 1}
    changes |= {"model.embeddings": "target", "vectors.freeze": True, "train.warmup": 0}
    changes |= {f"data.test.{name}.max_rows": 2 for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")}
    run = train("translate-miniature", changes)
    facts = regard.load(run.best).bundle.facts
    assert facts["vectors"]["covered"] > 10
    assert run.record.settings.plain["model"]["width"] == 12


def test_words_that_have_no_vector_are_drawn_like_the_others(glove):
    run = train("language-miniature", {**TEXT, **BRIEF, "init_from": str(glove), "vectors.freeze": True})
    rows, _ = table_of(run)
    known = set(regard.load(glove).words)
    sides = ([row for word, row in rows.items() if (word in known) is side] for side in (True, False))
    ours, others = map(torch.stack, sides)
    assert len(others) > 20
    assert others.mean().item() == pytest.approx(ours.mean().item(), rel=0.3)
    assert others.std().item() == pytest.approx(ours.std().item(), rel=0.3)


def test_a_classifier_begins_with_a_run_of_vectors(glove):
    write_reviews(glove.parent / "reviews.csv", 80)
    folder = glove.parent / "books"
    folder.mkdir()
    (folder / "a.txt").write_text("\n\n".join(miniature.texts("train", 200)))
    vectors = train("vectors", {"data.train.paths": [str(folder)], "model.width": 16, "machine.threads": 1})
    changes = {"data.train.path": str(glove.parent / "reviews.csv"), "init_from": str(vectors.path), "train.steps": 2}
    run = train("classify", changes)
    model = run.record.settings.plain["model"]
    assert (model["family"], model["width"]) == ("words", 16)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"model.width": 16}, "model.width: 16 is not the dimension 12 of the vectors in"),
        ({"init_from": "other.txt"}, "none of the words in other.txt is a token of this model"),
    ],
)
def test_mistakes_are_one_sentence(glove, changes, words):
    (glove.parent / "other.txt").write_text("qqqq 1 2 3 4\nzzzz 1 2 3 4\n")
    with pytest.raises(ConfigError) as found:
        train("language-miniature", {**TEXT, **BRIEF, "init_from": str(glove), **changes})
    assert words in str(found.value) and "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("schema", "base", "sizes"),
    [
        ({"embedding_width": None, "width": None}, {}, {"embedding_width": 12}),
        (GptSettings.model_fields, {"heads": 8}, {"width": 12, "heads": 6, "feed_forward_width": 48}),
        (GptSettings.model_fields, {"heads": 1}, {"width": 12, "heads": 1, "feed_forward_width": 48}),
    ],
)
def test_word_vectors_imply_words_as_tokens_and_a_width(glove, schema, base, sizes):
    changes = {"init_from": str(glove)}
    values = {"text": {"kind": "bpe"}, "init_from": "other"}
    layer = embedding_layer(schema, base, values, changes)
    assert layer.values == {
        "text": {"kind": "word", "size": 30_000, "min_frequency": 2, "lowercase": True},
        "model": sizes,
    }
    assert changes == {"vectors": {"path": str(glove)}} and values == {}
    assert embedding_layer(schema, base, {}, {}) is None


def test_rows_of_known_words_are_scaled_to_the_model_s_own_initialization(glove):
    tokenizer = train_tokenizer(list(miniature.texts("train", 40)), TokenizerSettings(kind="word", lowercase=True))
    model = build_model(GptSettings(width=12, heads=2, layers=1), Vocabularies(tokenizer.size, tokenizer.size, True))
    table = model.embedding.table.weight
    spread, settings = float(table.detach().std()), EmbeddingInitSettings(path=str(glove), freeze=True)
    facts = fill_embeddings(model, {"tokenizer": tokenizer}, settings)
    assert float(table.detach().std()) == pytest.approx(spread, rel=0.3)
    vectors = regard.load(glove)
    word = next(word for word in vectors.words if f"▁{word}" in tokenizer.vocabulary.values())
    row = next(number for number, token in tokenizer.vocabulary.items() if token == f"▁{word}")
    ratio = table.detach()[row] / torch.from_numpy(vectors.vectors[vectors.find(word)])
    torch.testing.assert_close(ratio, ratio[:1].expand(12), atol=1e-5, rtol=0)
    assert facts["vectors"]["tokens"] == len(tokenizer.vocabulary) and facts["vectors"]["freeze"]
    freeze_embeddings(model, {"tokenizer": tokenizer}, settings)
    assert not table.requires_grad and model.head.weight.requires_grad == (model.head.weight is not table)
    assert fill_embeddings(model, {"tokenizer": tokenizer}, EmbeddingInitSettings()) == {}

"""An ELMo, and tables of word vectors, as the pretrained models of classifiers and taggers."""

import numpy as np
import pytest
import torch

import regard
from elmos import elmo_bundle
from labeled import write_reviews
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.errors import ConfigError
from regard.runs.planning.recipes import find_recipe
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.verify import verify_resume
from tuning import write_tagged

QUICK = {"train": {"steps": 6, "warmup": 1, "validate_every": 3, "examples_per_update": 8, "learning_rate": 1e-2}}


@pytest.fixture
def desk(tmp_path):
    write_bundle(tmp_path / "elmo", elmo_bundle())
    write_reviews(tmp_path / "reviews.csv", 48)
    write_tagged(tmp_path / "words.conll", 40)
    return tmp_path


def tune(desk, task, data, changes, out="run"):
    own = {"data.train.path": str(desk / data), "init_from": str(desk / "elmo"), "bilstm_width": 8}
    return regard.train(task, QUICK | own | changes, out=desk / out)


def body(run):
    return read_bundle(run.best).model.body.state_dict()


@pytest.mark.parametrize("task, data", [("classify", "reviews.csv"), ("tag", "words.conll")])
def test_a_frozen_elmo_stays_as_it_is_and_the_weights_of_its_layers_are_learned_and_reported(desk, task, data):
    run = tune(desk, task, data, {})
    before = elmo_bundle().model.state_dict()
    assert all(torch.equal(each, before[name]) for name, each in body(run).items())
    mix = run.record.scores["valid"]["mix"]
    assert list(mix) == ["characters", "lstm 1", "lstm 2", "scale"]
    assert sum(mix[name] for name in list(mix)[:3]) == pytest.approx(1, abs=1e-5)
    assert mix["scale"] != 1 and len({round(value, 5) for value in list(mix.values())[:3]}) > 1
    assert regard.load(run.path).mix == mix
    assert "Learned weights of the layers: characters 0." in (run.path / "README.md").read_text()
    assert evaluate_sets(run.path)["valid"].details["mix"] == mix


def test_a_tuned_elmo_changes_but_for_its_softmax(desk):
    run = tune(desk, "classify", "reviews.csv", {"freeze_body": False})
    before = elmo_bundle().model.state_dict()
    changed = {name for name, each in body(run).items() if not torch.equal(each, before[name])}
    assert "characters.table.weight" in changed and "ahead.1.fused.weight_hr_l0" in changed
    assert not any(name.startswith("head.") for name in changed)


def test_padding_and_batching_change_no_prediction(desk):
    classifier = regard.load(tune(desk, "classify", "reviews.csv", {}).path)
    texts = ["Good.", "A long story about the bank of a river, and of nothing else at all.", "Dull, dull, dull!"]
    for one, text in zip(classifier(texts), texts, strict=True):
        alone = classifier(text).probabilities
        assert {k: pytest.approx(v, abs=1e-6) for k, v in alone.items()} == one.probabilities


def test_an_interruption_changes_nothing(desk):
    changes = {"data.train.path": str(desk / "reviews.csv"), "init_from": str(desk / "elmo"), "bilstm_width": 8}
    assert verify_resume(find_recipe("classify"), QUICK | changes | {"freeze_body": False}, steps=4).is_exact


@pytest.mark.parametrize("frozen", [True, False])
def test_a_file_of_word_vectors_initializes_the_embeddings(desk, frozen):
    words = ("good", "bad", "the", "unheard")
    vectors = np.random.default_rng(0).normal(size=(4, 6)).round(4)
    rows = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors, strict=True)]
    (desk / "glove.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    run = tune(desk, "classify", "reviews.csv", {"init_from": str(desk / "glove.txt"), "freeze_body": frozen})
    bundle = read_bundle(run.best)
    known = bundle.model.body.table.weight[[bundle.tokenizers["tokenizer"].token_id(word) for word in words]]
    given = torch.tensor(vectors, dtype=torch.float32)
    assert torch.equal(known, given) == frozen
    torch.testing.assert_close(known[3], given[3], atol=1e-3, rtol=0)  # what does not occur only decays
    assert len(regard.load(run.path)(["A good one.", "unheard"])) == 2


def test_words_are_learned_from_scratch_too(desk):
    own = {"data.train.path": str(desk / "reviews.csv"), "model": {"preset": "words", "width": 8}, "bilstm_width": 8}
    run = regard.train("classify", QUICK | own, out=desk / "run")
    assert run.record.scores["valid"]["examples"] > 0 and "mix" not in run.record.scores["valid"]


@pytest.mark.parametrize(
    "changes, words",
    [
        (
            {"init_from": None, "model.preset": "elmo-tiny"},
            "init_from: classify starts from a pretrained ELMo",
        ),
        (
            {"init_from": None, "model.preset": "words", "freeze_body": True},
            "freeze_body: there is no pretrained model to freeze",
        ),
    ],
)
def test_impossible_settings_are_refused(desk, changes, words):
    with pytest.raises(ConfigError, match=words):
        tune(desk, "classify", "reviews.csv", changes)

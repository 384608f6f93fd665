"""Extra word vectors concatenated to an ELMo's states."""

import csv

import pytest
import torch

import regard
from elmos import elmo_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from labeled import Telling
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.errors import RegardError
from regard.nn.layers.hashed_embedding import HashedEmbedding
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.verify import verify_resume
from regard.studies.transfer.transfer import TransferStudy, transfer
from regard.tasks.finetune.extra_vectors import read_extra_vectors
from tuning import write_tagged

QUICK = {"train": {"steps": 6, "warmup": 1, "validate_every": 3, "examples_per_update": 8, "learning_rate": 1e-2}}
KNOWN, UNSEEN = ("splendid", "lovely", "dreadful", "boring"), ("superb", "awful")
VECTORS = {"splendid": 1, "lovely": 1, "superb": 1, "dreadful": -1, "boring": -1, "awful": -1, "film": 0, "don't": 0}


@pytest.fixture
def desk(tmp_path):
    write_bundle(tmp_path / "elmo", elmo_bundle())
    rows = [
        (f"A {word} film {number}.", "good" if VECTORS[word] > 0 else "bad") for number in range(16) for word in KNOWN
    ]
    with (tmp_path / "reviews.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    lines = [f"{word} {value} {-2 * value} 0.5" for word, value in VECTORS.items()]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def changes(desk, **more):
    own = {"data.train.path": str(desk / "reviews.csv"), "init_from": str(desk / "elmo"), "bilstm_width": 8}
    return QUICK | own | {"extra_vectors": str(desk / "glove.txt")} | more


@pytest.mark.parametrize("frozen", [True, False])
def test_vectors_are_copied_and_trained_unless_frozen(desk, frozen):
    progress = Telling()
    run = regard.train("classify", changes(desk, freeze_extra_vectors=frozen), out=desk / "run", progress=progress)
    bundle = read_bundle(run.best)
    table = bundle.model.beside.table.weight
    assert bundle.head.extra_vectors.words == 7 and table.shape == (8, 3)  # "don't" is split into three words
    given = torch.tensor([[value, -2.0 * value, 0.5] for word, value in VECTORS.items() if word != "don't"])
    taken = sorted(table[1:].tolist()) == sorted(given.tolist())
    assert taken == frozen and not table[0].any()
    assert run.record.report.extra_vectors.words == 7
    assert f"Extra word vectors of 7 words from `{desk / 'glove.txt'}`." in (run.path / "README.md").read_text()
    message = next(each for each in progress.said if "words of the training set have a vector (" in each)
    assert f"extra word vectors {'are frozen' if frozen else 'are trained'}." in message


def test_words_that_only_the_vectors_cover_are_classified(desk):
    more = {"train": QUICK["train"] | {"steps": 60, "validate_every": 60}}
    run = regard.train("classify", changes(desk, freeze_extra_vectors=True) | more, out=desk / "run")
    classifier = regard.load(run.path)
    assert [each.label for each in classifier([f"A {word} film." for word in UNSEEN])] == ["good", "bad"]
    # This ELMo distinguishes capital letters, the vectors do not.
    assert [each.label for each in classifier([f"A {word} film." for word in KNOWN])] == ["good"] * 2 + ["bad"] * 2


def test_padding_and_company_change_no_answer(desk):
    classifier = regard.load(regard.train("classify", changes(desk), out=desk / "run").path)
    texts = ["Splendid.", "A long, lovely story about a film, and of nothing else at all.", "boring boring"]
    for one, text in zip(classifier(texts), texts, strict=True):
        alone = classifier(text).probabilities
        assert {k: pytest.approx(v, abs=1e-6) for k, v in alone.items()} == one.probabilities


def test_an_interruption_changes_nothing(desk):
    assert verify_resume(find_recipe("classify"), changes(desk), steps=4).is_exact


def test_a_tagger_has_them_too(desk):
    write_tagged(desk / "words.conll", 40)
    own = {"data.train.path": str(desk / "words.conll")}
    run = regard.train("tag", changes(desk) | own, out=desk / "run")
    assert read_bundle(run.best).model.beside is not None and regard.load(run.path)("A splendid film.").words


def test_a_transfer_compares_them(desk):
    question = TransferStudy(
        {"path": str(desk / "reviews.csv")},
        methods=("elmo", "elmo-vectors"),
        sizes=("all",),
        seeds=1,
        pretrained={"elmo": str(desk / "elmo"), "vectors": str(desk / "glove.txt")},
        overrides={"train.steps": 2, "train.warmup": 1, "machine.threads": 1},
    )
    study = transfer(question, out=desk / "transfer")
    alone, both = study.results["table"]
    assert f"given: {desk / 'elmo'}; given: {desk / 'glove.txt'}" in study.report.read_text(encoding="utf-8")
    # Three numbers a word, for 7 words and those without a vector; three more inputs of the BiLSTM each way.
    assert both["trainable_parameters"] - alone["trainable_parameters"] == 8 * 3 + 2 * 4 * 64 * 3
    assert both["by_size"][0]["mix"]


def test_extra_vectors_of_a_pretrained_model_are_reported_as_left_out(desk):
    run, progress = regard.train("classify", changes(desk), out=desk / "run"), Telling()
    again = regard.train(
        "classify", changes(desk, init_from=str(run.path), extra_vectors=None), out=desk / "again", progress=progress
    )
    assert read_bundle(again.best).model.beside is None
    assert any("its extra word vectors are left out with its head" in each for each in progress.said)


@pytest.mark.parametrize("use", ["init_from", "extra_vectors"])
def test_rows_of_a_file_that_are_left_out_are_reported_even_the_first(desk, use):
    given = (desk / "glove.txt").read_bytes()
    (desk / "broken.txt").write_bytes("café 1 2 3\n".encode("latin-1") + given)
    progress = Telling()
    more = (
        {"extra_vectors": None, "init_from": str(desk / "broken.txt")}
        if use == "init_from"
        else {"extra_vectors": str(desk / "broken.txt")}
    )
    regard.train("classify", changes(desk) | more, out=desk / "run", progress=progress)
    assert any("broken.txt: 1 row is left out" in each for each in progress.warned)


def test_vectors_are_looked_up_by_the_characters_of_a_word(desk):
    settings = resolve_run(find_recipe("classify"), changes(desk)).settings
    pretrained = read_bundle(desk / "elmo")
    texts = ["A splendid film.", "An awful film."]
    extra = read_extra_vectors(settings, str(desk / "glove.txt"), pretrained, texts, texts, Telling())
    table = HashedEmbedding(extra.settings.words, extra.settings.width)
    extra.fill(table)
    words = [*(word for word in VECTORS if word != "don't"), "unheard"]
    ids = pretrained.tokenizers["tokenizer"].encode_batch(words)
    word = torch.repeat_interleave(torch.arange(len(ids)), torch.tensor([len(each) for each in ids]))
    vectors = table(torch.tensor([token for each in ids for token in each]), word, len(ids))
    expected = [[VECTORS[word], -2.0 * VECTORS[word], 0.5] for word in words[:-1]] + [[0.0] * 3]
    assert vectors.tolist() == expected and extra.facts["words"] == 7


@pytest.mark.parametrize(
    "more, words",
    [
        ({"init_from": "bert"}, "extra_vectors: .*glove.txt is for a pretrained ELMo only"),
        ({"init_from": None, "model.preset": "words"}, "extra_vectors: .*glove.txt is for a pretrained ELMo only"),
        (
            {"extra_vectors": None, "freeze_extra_vectors": True},
            "freeze_extra_vectors: there are no extra word vectors",
        ),
        ({"extra_vectors": "foreign.txt"}, "extra_vectors: .*foreign.txt has no word of the texts"),
        ({"extra_vectors": "nowhere.txt"}, "nowhere.txt"),
    ],
)
def test_what_cannot_be_is_refused(desk, monkeypatch, more, words):
    monkeypatch.chdir(desk)
    write_bundle(desk / "bert", small_encoder_bundle(bert_tokenizer()))
    (desk / "foreign.txt").write_text("l'eau 1 2\n", encoding="utf-8")
    with pytest.raises(RegardError, match=words):
        regard.train("classify", changes(desk, **more), out=desk / "run")

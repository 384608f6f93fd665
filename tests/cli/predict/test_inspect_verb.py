"""`regard inspect`: attention as a table, JSON or a plot, logit lens, and decoding iterations."""

import json

import numpy as np
import pytest

from commands import bad, good
from elmos import elmo_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from generators import language_bundle, tokenizer_of
from head_bundles import head_bundle
from regard.checkpoint.bundle import write_bundle
from regard.cli.predict.inspect import inspect
from regard.errors import ConfigError
from regard.tasks.load import load, load_encoder

GERMAN = "Der Hund schläft."


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "model"
    write_bundle(folder, language_bundle(tokenizer_of("byte-level")))
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "bert"
    write_bundle(folder, small_encoder_bundle(bert_tokenizer()))
    return folder


def test_a_translator_shows_the_source_tokens_that_each_output_token_attends_to(quick_run):
    lines = [
        line.split("\t") for line in good("inspect", quick_run.path, GERMAN, "The dog sleeps.", "-k", 2).splitlines()
    ]
    trace = load(quick_run.path, "cpu", task="translate").inspect(GERMAN, "The dog sleeps.")
    weights = trace.attention("cross").mean(0)
    assert lines[0][:2] == ["output", "attends to"] and lines[-1][0] == "</s>"
    assert [line[0] for line in lines[1:]] == trace.tokens["target"]
    for line, row in zip(lines[1:], weights, strict=True):
        best = np.argsort(-row, kind="stable")[:2]
        assert line[1:] == [f"{trace.tokens['source'][place]} {row[place]:.2f}" for place in best]


def test_every_head_of_a_layer_comes_as_json(quick_run):
    found = json.loads(good("inspect", quick_run.path, GERMAN, "--attention", "encoder", "--layer", 0, "--json"))
    weights = np.array(found["weights"])
    assert found["attention"] == "encoder" and found["layer"] == 0 and found["queries"] == found["keys"]
    assert weights.shape[1:] == (len(found["keys"]),) * 2 and np.allclose(weights.sum(-1), 1, atol=1e-4)
    one = json.loads(
        good("inspect", quick_run.path, GERMAN, "--attention", "encoder", "--layer", 0, "--head", 1, "--json")
    )
    assert one["weights"] == [found["weights"][1]]


def test_weights_are_plotted(quick_run, language, tmp_path):
    for name, words in (("all.png", ()), ("one.svg", ("--head", 0))):
        printed = good("inspect", quick_run.path, GERMAN, "--out", tmp_path / name, *words)
        assert printed == f"plotted: {tmp_path / name}\n" and (tmp_path / name).stat().st_size > 5000
    good("inspect", language, "Anna had $5 and $6.", "--out", tmp_path / "text.png")
    assert "a picture ends in .png" in bad("inspect", language, "Anna", "--out", tmp_path / "text.gif")
    assert "cannot be written" in bad("inspect", language, "Anna", "--out", tmp_path / "none" / "text.png")


def test_text_models_show_tokens_and_the_predictions_of_blocks(language, bert):
    found = json.loads(good("inspect", language, "Anna had", "--json"))
    weights = np.array(found["weights"])
    assert found["attention"] == "self" and np.allclose(np.triu(weights[0], 1), 0)
    lines = [line.split("\t") for line in good("inspect", language, "Anna had", "--logit-lens").splitlines()]
    logit_lens = load(language, "cpu", task="language-model").logit_lens("Anna had", count=3)
    blocks = sum(name.endswith(".ids") for name in logit_lens.arrays)
    assert (
        lines[0] == ["token", *(f"block {number}" for number in range(blocks))]
        and len(lines) == len(found["keys"]) + 1
    )
    best = logit_lens.tokens["blocks.0"][1], logit_lens.arrays["blocks.0.probabilities"][1, 0]
    assert lines[2][1] == f"{best[0]} {best[1]:.2f}"
    words = ("the dog sleeps", "a cat")
    pair = json.loads(good("inspect", bert, *words, "--logit-lens", "--json", "-k", 2))
    assert pair["tokens"] == load_encoder(bert, "cpu").inspect(*words).tokens["text"]
    assert len(pair["blocks"][0]) == len(pair["tokens"]) and len(pair["blocks"][0][0]) == 2


def test_the_iterations_of_a_mask_predict_model_are_shown(masked_run, quick_run):
    lines = good("inspect", masked_run.path, GERMAN, "--iterations", 3).splitlines()
    assert [line.split("\t")[0] for line in lines] == ["iteration", "1", "2", "3"]
    assert "(" not in lines[1].rpartition("\t")[0] and "(" in lines[3]  # but for the end, the first fills in all
    found = json.loads(good("inspect", masked_run.path, GERMAN, "--iterations", 2, "--json"))
    trace = load(masked_run.path, task="translate").inspect(GERMAN, iterations=2)
    assert [each["tokens"] for each in found["iterations"]] == [trace.tokens[f"passes.{number}"] for number in (0, 1)]
    assert found["iterations"][1]["is_filled_in"] == (trace.arrays["passes.1.masked"] > 0).tolist()
    assert len(found["lengths"]) == len(found["length_probabilities"]) > 1
    assert "only a mask-predict model" in bad("inspect", quick_run.path, GERMAN, "--iterations", 2)
    assert "leave out --logit-lens" in bad("inspect", masked_run.path, GERMAN, "--iterations", 2, "--logit-lens")


def test_mistakes_are_told_in_a_sentence(quick_run, language):
    assert "has no self attention; it has cross and encoder and decoder" in bad(
        "inspect", quick_run.path, GERMAN, "--attention", "self"
    )
    assert "layer: 99 is out of range" in bad("inspect", quick_run.path, GERMAN, "--layer", 99)
    assert "head: 99 is out of range" in bad("inspect", quick_run.path, GERMAN, "--head", 99)
    assert "a translator has no logit lens" in bad("inspect", quick_run.path, GERMAN, "--logit-lens")
    assert "leave out the second" in bad("inspect", language, "Anna", "had")
    assert "3 texts were given; give one, or two for a pair." in bad("inspect", language, "Anna", "had", "a")
    assert "leave out --out" in bad("inspect", language, "Anna", "--logit-lens", "--head", 1)
    assert "empty" in bad("inspect", quick_run.path, " ")


def test_a_model_without_attention_is_told(tmp_path):
    write_bundle(tmp_path / "elmo", elmo_bundle())
    for words in ([], ["--json"], ["--out", tmp_path / "a.png"]):
        assert bad("inspect", tmp_path / "elmo", "the dog", *words) == (
            "attention: this model has none; give a Transformer, a GPT, a BERT or the like."
        )
    assert not (tmp_path / "a.png").exists()
    hidden = load(tmp_path / "elmo", task="elmo").inspect("the dog")
    assert hidden.kinds == () and all(len(each) == len(hidden.tokens["text"]) for each in hidden.arrays.values())


def test_a_fine_tuned_model_is_inspected_like_any_other(tmp_path):
    write_bundle(tmp_path / "labels", head_bundle("classify"))
    found = json.loads(good("inspect", tmp_path / "labels", "the film was good", "--json"))
    assert found["attention"] == "self" and found["queries"] == found["keys"]
    assert "a classifier has no logit lens" in bad("inspect", tmp_path / "labels", "the film", "--logit-lens")


def test_a_target_is_not_for_iterations():
    with pytest.raises(ConfigError, match="--iterations shows the decoding of a translation; leave out the target."):
        inspect("missing", ["a", "b"], iterations=2)

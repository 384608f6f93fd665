"""Features of a frozen encoder, and the taggers over them."""

import json

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import regard
from commands import bad, good
from elmos import elmo_bundle
from regard.checkpoint.bundle import Bundle, write_bundle
from regard.data.encoding.frozen_features import ALL, WAYS, FrozenFeatures, needed_layers, recipe_of
from regard.data.encoding.tagged import encode_tagged
from regard.data.encoding.templates import SequenceTemplate
from regard.data.settings.examples import ExampleData, TagSource
from regard.models.base.settings import FeatureTaggerSettings, Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.models.feature_tagger import new_feature_tagger
from regard.nn.attention.attention import View
from regard.studies.features import evaluate_features, word_features
from regard.studies.settings import FeatureSettings
from regard.tasks.load import load_encoder
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from tuning import SMALL_BERT, tagged, write_tagged


@pytest.fixture(scope="module")
def encoder_path(tmp_path_factory):
    """An encoder that has learned nothing: its vectors still tell words apart."""
    texts = [" ".join(word for word, _ in sentence) for sentence in tagged(50)]
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=200, min_frequency=1)
    tokenizer = train_tokenizer(texts, settings)
    torch.manual_seed(0)
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, True)
    model = build_model(BertSettings(**(SMALL_BERT | {"layers": 5})), vocabularies).eval()
    bundle = Bundle("masked-language-model", model, model.settings, vocabularies, {"tokenizer": tokenizer})
    folder = tmp_path_factory.mktemp("features") / "encoder"
    write_bundle(folder, bundle)
    return folder


def stored(path, ways=WAYS, sentences=None):
    encoder = load_encoder(path, "cpu")
    words = [tuple(word for word, _ in sentence) for sentence in sentences or tagged(9)]
    frame = SequenceTemplate.of(encoder.tokenizer, is_for_encoder=True)
    encoded = encode_tagged(words, None, encoder.tokenizer, frame, encoder.max_length)
    return encoder, encoded, word_features(encoder, encoded, needed_layers(ways, 5))


def test_what_is_kept_is_what_the_layers_know_of_first_pieces(encoder_path):
    encoder, encoded, layers = stored(encoder_path)
    with torch.no_grad():
        for row in range(len(encoded)):
            tokens = torch.from_numpy(encoded.sequences[row].astype(np.int64))[None]
            own = slice(*encoded.steps.starts[row : row + 2].tolist())
            states = [encoder.model.embedding(tokens, None, torch.arange(tokens.size(1)))]
            for block in encoder.model.blocks:
                states.append(block(states[-1], View()))
            chosen = encoded.steps[row]
            assert_close(torch.from_numpy(layers[0][own]).float(), states[0][0][chosen], atol=5e-3, rtol=2e-3)
            assert_close(torch.from_numpy(layers[5][own]).float(), states[5][0][chosen], atol=5e-3, rtol=2e-3)
            total = torch.stack(states[1:]).sum(0)[0][chosen]
            assert_close(torch.from_numpy(layers[ALL][own]).float(), total, atol=2e-2, rtol=5e-3)


def test_layers_are_added_or_stand_side_by_side(encoder_path):
    _, encoded, layers = stored(encoder_path)
    added = FrozenFeatures(encoded, layers, recipe_of("sum-last-4", 5))
    beside = FrozenFeatures(encoded, layers, recipe_of("concat-last-4", 5))
    assert (added.width, beside.width) == (32, 128)
    whole = slice(0, len(encoded.labels.ids))
    np.testing.assert_allclose(beside.of(whole).reshape(-1, 4, 32).sum(1), added.of(whole), atol=1e-5)
    scaled = added.in_units(added.measured()).of(whole)
    np.testing.assert_allclose(scaled.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(scaled.std(0), 1, atol=1e-2)


@pytest.mark.parametrize("kind", ["bilstm", "linear"])
def test_sentences_together_are_tagged_as_alone(encoder_path, kind):
    _, encoded, layers = stored(encoder_path)
    vectors = FrozenFeatures(encoded, layers, recipe_of("last", 5))
    model = new_feature_tagger(FeatureTaggerSettings(kind=kind, width=8), vectors.width, 3, seed=1).eval()
    batch = vectors.batch(np.array([3, 0, 7]))
    with torch.no_grad():
        together = model(batch.reading, batch.places, batch.candidate_mask)
        each = [vectors.batch(np.array([row])) for row in (3, 0, 7)]
        alone = torch.cat([model(one.reading, one.places, one.candidate_mask) for one in each])
    assert_close(together, alone, atol=1e-5, rtol=0)


def test_every_way_feeds_a_tagger(encoder_path, tmp_path):
    data = ExampleData[TagSource](
        train=TagSource(path=write_tagged(tmp_path / "a.conll", 150)),
        valid=TagSource(path=write_tagged(tmp_path / "b.conll", 40, seed=1)),
    )
    settings = FeatureSettings(epochs=10, learning_rate=1e-2, tagger=FeatureTaggerSettings(width=16, dropout=0.0))
    rows = evaluate_features(encoder_path, data, WAYS, settings, device="cpu")
    assert [row.layers for row in rows] == list(WAYS) and rows[-1].width == 4 * rows[0].width
    for row in rows:
        assert row.f1 > 0.75 and row.interval[0] <= row.f1 <= row.interval[1] and 0 < row.epoch <= 10
    again = evaluate_features(encoder_path, data, ("last",), settings, device="cpu")
    assert again == [rows[1]]


def test_one_command_prints_the_table(encoder_path, tmp_path):
    path = write_tagged(tmp_path / "a.conll", 80)
    words = ["features", encoder_path, "--data", path, "--tagger", "linear", "--epochs", "2", "--quiet"]
    lines = good(*words).splitlines()
    assert lines[0] == "layers\twidth\tF1 [95 %]\taccuracy\tbest epoch"
    assert [line.split("\t")[0] for line in lines[1:7]] == list(WAYS)
    found = json.loads(good(*words, "--layers", "last,sum-all", "--json"))
    assert [row["layers"] for row in found] == ["last", "sum-all"]
    assert bad(*words, "--layers", "first").startswith('--layers: "first" is not one of embeddings, last')
    assert bad("features", encoder_path, "--data", path, "--tagger", "tree").startswith("tagger.kind: ")


def test_an_elmo_has_features_of_both_directions(tmp_path):
    write_bundle(tmp_path / "elmo", elmo_bundle())
    write_tagged(tmp_path / "words.conll", 24)
    data = ExampleData[TagSource](train=TagSource(path=str(tmp_path / "words.conll")))
    rows = evaluate_features(tmp_path / "elmo", data, ("embeddings", "last"), FeatureSettings(epochs=1), device="cpu")
    assert [row.width for row in rows] == [16, 16]  # twice its 8


def test_words_without_context_have_no_layers(tmp_path):
    write_tagged(tmp_path / "words.conll", 24)
    changes = {"data.train.path": str(tmp_path / "words.conll"), "model": {"preset": "words", "width": 8}}
    run = regard.train(
        "tag", changes | {"train.steps": 2, "train.warmup": 1, "bilstm_width": 4}, out=tmp_path / "run"
    )
    for words in (
        ["features", str(run.path), "--data", str(tmp_path / "words.conll")],
        ["embed", str(run.path), "A"],
    ):
        assert "of the family words, and only a text encoder such as BERT embeds texts" in bad(*words)

"""Word vectors from stored layers: summed or concatenated, and standardized by a training set."""

import numpy as np
import pytest

from regard.data.encoding.frozen_features import ALL, CHUNK, WAYS, FrozenFeatures, needed_layers, recipe_of
from regard.data.encoding.tagged import encode_tagged
from regard.data.encoding.templates import SequenceTemplate
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

BLOCKS, WIDTH = 5, 3
SENTENCES = [("the", "dog"), ("dog",), ("the", "big", "dog", "plays")]


@pytest.fixture(scope="module")
def encoded():
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=60, min_frequency=1)
    tokenizer = train_tokenizer(["the big dog plays"], settings)
    labels = [[number for number, _ in enumerate(words)] for words in SENTENCES]
    return encode_tagged(SENTENCES, labels, tokenizer, SequenceTemplate.of(tokenizer, is_for_encoder=True), 40)


def random_layers(size, seed=0):
    draw = np.random.default_rng(seed)
    blocks = {number: draw.normal(2, 3, (size, WIDTH)).astype(np.float16) for number in range(BLOCKS + 1)}
    total = sum(blocks[number].astype(np.float32) for number in range(1, BLOCKS + 1))
    return blocks | {ALL: total.astype(np.float16)}


def test_a_way_is_made_of_these_layers():
    assert recipe_of("embeddings", 12).layers == (0,)
    assert recipe_of("last", 12).layers == (12,) and recipe_of("second-to-last", 12).layers == (11,)
    assert recipe_of("sum-all", 12).layers == (ALL,)
    assert recipe_of("sum-last-4", 12).layers == recipe_of("concat-last-4", 12).layers == (9, 10, 11, 12)
    assert recipe_of("sum-last-4", 12).is_sum and not recipe_of("concat-last-4", 12).is_sum
    assert recipe_of("concat-last-4", 2).layers == (1, 2)
    assert needed_layers(WAYS, 12) == (ALL, 0, 9, 10, 11, 12) and needed_layers(("last",), 12) == (12,)


@pytest.mark.parametrize("way", WAYS)
def test_layers_are_summed_or_concatenated(encoded, way):
    layers = random_layers(7)
    features = FrozenFeatures(encoded, layers, recipe_of(way, BLOCKS))
    blocks = [layers[number].astype(np.float32) for number in range(BLOCKS + 1)]
    wanted = {
        "embeddings": blocks[0],
        "last": blocks[5],
        "second-to-last": blocks[4],
        "sum-all": layers[ALL].astype(np.float32),
        "sum-last-4": blocks[2] + blocks[3] + blocks[4] + blocks[5],
        "concat-last-4": np.concatenate(blocks[2:], axis=1),
    }[way]
    np.testing.assert_allclose(features.of(np.array([6, 0, 3])), wanted[[6, 0, 3]], atol=1e-5)
    assert features.width == wanted.shape[1]


def test_units_of_a_training_set_standardize_it_and_shift_others(encoded):
    train = FrozenFeatures(encoded, random_layers(7), recipe_of("last", BLOCKS))
    other = FrozenFeatures(encoded, random_layers(7, seed=1), recipe_of("last", BLOCKS))
    units = train.measured()
    vectors = train.of(slice(None))
    np.testing.assert_allclose(units[0], vectors.mean(0), atol=1e-5)
    np.testing.assert_allclose(units[1], vectors.std(0), atol=1e-4)
    standard = train.in_units(units).of(slice(None))
    np.testing.assert_allclose(standard.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(standard.std(0), 1, atol=1e-4)
    np.testing.assert_allclose(other.in_units(units).of(slice(None)), (other.of(slice(None)) - units[0]) / units[1])


def test_statistics_do_not_depend_on_chunks(encoded, monkeypatch):
    features = FrozenFeatures(encoded, random_layers(7), recipe_of("concat-last-4", BLOCKS))
    whole = features.measured()
    assert CHUNK > 7
    monkeypatch.setattr("regard.data.encoding.frozen_features.CHUNK", 2)
    for one, other in zip(whole, features.measured(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_batch_has_the_vectors_and_labels_of_its_words(encoded):
    features = FrozenFeatures(encoded, random_layers(7), recipe_of("last", BLOCKS))
    batch = features.batch(np.array([2, 0]))
    assert batch.reading.shape == (2, 4, WIDTH) and batch.reading.token_mask.sum(1).tolist() == [4, 2]
    assert batch.labels.tolist() == [0, 1, 2, 3, 0, 1] and batch.label_count == 6
    chosen = batch.reading.vectors.flatten(0, 1)[batch.places[:, 0]]
    np.testing.assert_allclose(chosen.numpy(), features.of(np.array([3, 4, 5, 6, 0, 1])))
    assert not batch.reading.vectors[~batch.reading.token_mask].any()
    assert features.lengths[1].tolist() == [2, 1, 4] and not features.lengths[0].any() and len(features) == 3
    assert features.answers_in(np.array([2, 1])).tolist() == [4, 1]

"""Weights of a BERT are the same after Hugging Face's names and layouts."""

import pytest
import torch

from encoder_folders import small_bert
from language_folders import shaken
from regard.errors import CheckpointError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, NEXT_SENTENCE, POOLER
from regard.interop.huggingface.encoder_weights import encoder_to_ours, encoder_to_theirs, parts_in, with_new_names
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model

ALL = frozenset((POOLER, MASKED_WORDS, NEXT_SENTENCE))


def weights_of(settings):
    torch.manual_seed(0)
    return dict(shaken(build_model(settings, Vocabularies(60, 60, True))).state_dict())


@pytest.mark.parametrize("embeddings", ["shared", "separate"])
def test_weights_round_trip(embeddings):
    settings = small_bert(embeddings=embeddings, next_sentence_head=True)
    weights = weights_of(settings)
    tensors = encoder_to_theirs(weights, settings, ALL)
    assert parts_in(tensors) == ALL
    read = encoder_to_ours(with_new_names(tensors), settings, ALL, "a folder")
    assert read.keys() == weights.keys()
    assert all(torch.equal(read[name], weights[name]) for name in weights)


def test_names_and_shapes_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=60,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=32,
    )
    settings = small_bert(next_sentence_head=True)
    for name, parts, has_head in (("BertForPreTraining", ALL, False), ("BertModel", frozenset((POOLER,)), False)):
        expected = {key: each.shape for key, each in getattr(transformers, name)(config).named_parameters()}
        tensors = encoder_to_theirs(weights_of(settings), settings, parts, has_head)
        assert {key: each.shape for key, each in tensors.items()} == expected


def test_only_the_parts_asked_for_are_written_and_a_head_asks_for_the_prefix():
    settings = small_bert()
    tensors = encoder_to_theirs(weights_of(settings), settings, frozenset((POOLER,)), has_head=True)
    assert all(name.startswith("bert.") for name in tensors) and parts_in(tensors) == {POOLER}
    assert parts_in(encoder_to_theirs(weights_of(settings), settings, frozenset())) == frozenset()


def test_names_of_old_conversions_are_read():
    tensors = {"bert.embeddings.LayerNorm.gamma": torch.ones(1), "bert.embeddings.LayerNorm.beta": torch.zeros(1)}
    assert with_new_names(tensors) == {
        "embeddings.LayerNorm.weight": torch.ones(1),
        "embeddings.LayerNorm.bias": torch.zeros(1),
    }


def test_a_tied_matrix_that_differs_is_refused():
    settings = small_bert(next_sentence_head=True)
    tensors = with_new_names(encoder_to_theirs(weights_of(settings), settings, ALL))
    tensors["cls.predictions.decoder.weight"] = tensors["embeddings.word_embeddings.weight"].clone()
    encoder_to_ours(tensors, settings, ALL, "here")
    tensors["cls.predictions.decoder.weight"] += 1
    with pytest.raises(CheckpointError) as error:
        encoder_to_ours(tensors, settings, ALL, "here")
    assert str(error.value) == (
        "here: cls.predictions.decoder.weight is not the embedding matrix, but tie_word_embeddings in config.json is "
        "true; set it to false there, or copy the model again."
    )

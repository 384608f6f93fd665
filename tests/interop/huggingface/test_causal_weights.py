"""Weights of a causal language model are the same after Hugging Face's names and layouts."""

import pytest
import torch

from language_folders import FORMS, shaken, small_gpt
from regard.errors import CheckpointError
from regard.interop.huggingface.causal_configs import language_form_for
from regard.interop.huggingface.causal_weights import NAMES, language_to_ours, language_to_theirs
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model


def model_of(settings):
    torch.manual_seed(0)
    return shaken(build_model(settings, Vocabularies(50, 50, True)))


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("embeddings", ["shared", "separate"])
def test_weights_round_trip_with_and_without_the_prefix(name, embeddings):
    settings = small_gpt(**FORMS[name], embeddings=embeddings)
    weights = dict(model_of(settings).state_dict())
    form = language_form_for(settings)
    tensors = language_to_theirs(weights, settings, form)
    prefix = NAMES[form.model_type].prefix
    for saved in (tensors, {key.removeprefix(prefix): value for key, value in tensors.items()}):
        read = language_to_ours(saved, settings, form, "a folder")
        assert read.keys() == weights.keys()
        assert all(torch.equal(read[key], weights[key]) for key in weights)


def test_names_and_shapes_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    settings = small_gpt()
    config = transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=4)
    expected = {name: each.shape for name, each in transformers.GPT2LMHeadModel(config).named_parameters()}
    tensors = language_to_theirs(dict(model_of(settings).state_dict()), settings, language_form_for(settings))
    assert {name: each.shape for name, each in tensors.items()} == expected


def test_linear_weights_of_gpt_2_are_transposed():
    settings = small_gpt()
    weights = dict(model_of(settings).state_dict())
    tensors = language_to_theirs(weights, settings, language_form_for(settings))
    assert torch.equal(tensors["transformer.h.0.mlp.c_fc.weight"], weights["blocks.0.feed_forward.inner.weight"].T)


def test_grouped_keys_and_values_are_split_by_their_rows():
    settings = small_gpt(**FORMS["Llama"])  # 4 heads of queries, 2 of keys and values, each of width 4
    tensors = language_to_theirs(dict(model_of(settings).state_dict()), settings, language_form_for(settings))
    rows = [len(tensors[f"model.layers.0.self_attn.{part}_proj.weight"]) for part in "qkv"]
    assert rows == [16, 8, 8]


def test_a_bias_that_regard_lacks_is_zero_there():
    settings = small_gpt(has_bias=False)
    tensors = language_to_theirs(dict(model_of(settings).state_dict()), settings, language_form_for(settings))
    assert not tensors["transformer.h.1.attn.c_attn.bias"].any()


def test_a_missing_tensor_is_named():
    settings = small_gpt(embeddings="separate")
    form = language_form_for(settings)
    tensors = language_to_theirs(dict(model_of(settings).state_dict()), settings, form)
    del tensors["lm_head.weight"]
    with pytest.raises(CheckpointError) as error:
        language_to_ours(tensors, settings, form, "here")
    assert str(error.value) == "here: lm_head.weight is missing, so the model is incomplete; copy it again."

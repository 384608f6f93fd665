"""Weights of a translator are the same after Hugging Face's names and layouts."""

import pytest
import torch

from regard.errors import CheckpointError
from regard.interop.huggingface.seq2seq_configs import config_for, form_for
from regard.interop.huggingface.seq2seq_weights import (
    TABLES,
    feature_order,
    layers,
    pack,
    tables_of,
    take,
    to_ours,
    to_theirs,
)
from regard.models.base.settings import Vocabularies
from regard.nn.layers.positions import sinusoids
from small import small_settings, small_transformer

CHANGES = {
    "Marian": {"norm_order": "post"},
    "Pegasus": {"norm_order": "pre"},
    "Blenderbot": {"norm_order": "pre", "positions": "learned", "max_positions": 64},
}
SHARED = Vocabularies(40, 40, True)


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("embeddings", ["shared", "separate"])
def test_weights_round_trip(name, embeddings):
    changes = CHANGES[name] | {"embeddings": embeddings}
    settings, weights = small_settings(**changes), dict(small_transformer(**changes).state_dict())
    form = form_for(settings, SHARED)
    config = config_for(settings, SHARED, form)
    tensors = to_theirs(weights, settings, form, 64)
    read = to_ours(tensors, settings, "x")
    read |= {TABLES[role][0]: table for role, table in tables_of(tensors, config, settings, "x").items()}
    assert set(read) >= set(weights)  # a bias that the model lacks is read as zeros
    assert all(torch.equal(read[key], weights[key]) for key in weights)
    assert not any(read[key].any() for key in set(read) - set(weights))


def test_every_layer_has_one_name_here_and_its_own_there():
    settings = small_settings(norm_order="pre", encoder_layers=3, decoder_layers=1)
    named = list(layers(settings))
    ours, theirs = [each.ours for each in named], [name for each in named for name in each.theirs]
    assert len(set(ours)) == len(ours) == 3 * 6 + 10 + 2 and len(set(theirs)) == len(theirs)


def test_sines_come_before_cosines_there():
    settings = small_settings()
    order = feature_order(settings)
    assert order.tolist() == [*range(0, 16, 2), *range(1, 16, 2)]
    waves = sinusoids(torch.arange(9), 16)[:, order]
    angles = torch.arange(9.0)[:, None] / 10000 ** (torch.arange(8.0) / 8)
    assert torch.allclose(waves, torch.cat((angles.sin(), angles.cos()), 1), atol=1e-5)
    assert feature_order(small_settings(positions="learned")).tolist() == list(range(16))


def test_tensors_are_taken_as_fp32_or_refused():
    tensors = {
        "half": torch.ones(2, dtype=torch.float16),
        "int": torch.ones(2, dtype=torch.int8),
        "one": torch.ones(()),
    }
    assert take(tensors, "half", "x").dtype == torch.float32
    for name, sentence in {
        "none": "x: none is missing, so the model is incomplete; copy it again.",
        "int": "x: int is int8, and weights can be float32, float16, bfloat16, float64; save it as one of them.",
        "one": "x: one is a single number, not a tensor of a model; copy it again.",
    }.items():
        with pytest.raises(CheckpointError) as error:
            take(tensors, name, "x")
        assert str(error.value) == sentence


def test_layers_are_packed_in_order_after_a_change_each():
    tensors = {"a.weight": torch.zeros(2, 3), "b.weight": torch.ones(1, 3), "c.weight": torch.ones(1, 4)}
    assert pack(tensors, ("b", "a"), "weight", "x").tolist() == [[1.0] * 3, [0.0] * 3, [0.0] * 3]
    assert pack(tensors, ("a",), "weight", "x", lambda tensor: tensor.T).shape == (3, 2)
    with pytest.raises(CheckpointError) as error:
        pack(tensors, ("a", "c"), "weight", "x")
    assert str(error.value) == "x: c.weight has shape (1, 4), which does not match (2, 3) of a.weight; copy it again."


def test_positions_that_are_not_sinusoidal_are_refused():
    settings = small_settings(norm_order="post")
    tensors = to_theirs(
        dict(small_transformer(norm_order="post").state_dict()), settings, form_for(settings, SHARED), 9
    )
    tensors["model.encoder.embed_positions.weight"] = torch.ones(9, 16)
    with pytest.raises(CheckpointError) as error:
        to_ours(tensors, settings, "x")
    assert str(error.value) == (
        "x: model.encoder.embed_positions.weight holds no sinusoidal positions, so the model cannot be read."
    )

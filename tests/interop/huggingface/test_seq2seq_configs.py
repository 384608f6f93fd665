"""Settings of a translator are the same after a config.json, in every architecture."""

import pytest

from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.seq2seq_configs import (
    FORMS,
    TABLE_LENGTH,
    checked,
    config_for,
    form_for,
    form_of,
    settings_of,
)
from regard.models.base.settings import Vocabularies
from regard.models.transformer.model import TransformerSettings
from small import small_settings

CHANGES = {
    "Marian": {"norm_order": "post"},
    "Pegasus": {"norm_order": "pre"},
    "Blenderbot": {"norm_order": "pre", "positions": "learned", "max_positions": 64},
}
SHARED = Vocabularies(40, 40, True)


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
def test_settings_round_trip(name, activation):
    settings = small_settings(**CHANGES[name], activation=activation, dropout=0.2, embedding_dropout=0.2)
    form = form_for(settings, SHARED)
    config = config_for(settings, SHARED, form)
    assert form.name == name and form_of(config, "x") is form
    read = settings_of(config, form, "config.json")
    assert {key: getattr(settings, key) for key in read} == read


def test_sinusoidal_positions_are_written_for_long_texts_and_learned_ones_as_they_are():
    for name, positions in (("Marian", TABLE_LENGTH), ("Blenderbot", 64)):
        settings = small_settings(**CHANGES[name])
        assert config_for(settings, SHARED, form_for(settings, SHARED))["max_position_embeddings"] == positions


@pytest.mark.parametrize(
    ("embeddings", "ties"), [("shared", (True, True)), ("target", (False, True)), ("separate", (False, False))]
)
def test_only_marian_ties_embeddings_in_two_ways(embeddings, ties):
    settings = small_settings(norm_order="post", embeddings=embeddings)
    config = config_for(settings, SHARED, form_for(settings, SHARED))
    assert (config["share_encoder_decoder_embeddings"], config["tie_word_embeddings"]) == ties


def test_two_vocabularies_need_marian():
    assert form_for(small_settings(norm_order="post"), Vocabularies(40, 50, False)).name == "Marian"
    with pytest.raises(ConfigError) as error:
        form_for(small_settings(norm_order="pre"), Vocabularies(40, 50, False))
    assert str(error.value) == (
        'text.vocabularies: "separate" with model.norm_order "pre" fits no Hugging Face architecture; '
        'text.vocabularies="shared" does (Pegasus), or model.norm_order="post" (Marian).'
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"d_model": None}, "x: d_model is missing, so the model cannot be built."),
        (
            {"decoder_attention_heads": 2},
            "x: decoder_attention_heads is 2 but 4 on the other side; a model whose encoder and decoder differ in "
            "heads cannot be read.",
        ),
        (
            {"activation_function": "tanh"},
            'x: activation_function "tanh" is not one that can be read (relu, gelu, silu, swish).',
        ),
    ],
)
def test_a_config_that_cannot_be_expressed_is_refused(changes, sentence):
    settings = small_settings(norm_order="post")
    with pytest.raises(CheckpointError) as error:
        settings_of(config_for(settings, SHARED, FORMS[0]) | changes, FORMS[0], "x")
    assert str(error.value) == sentence


def test_impossible_settings_are_one_sentence():
    assert checked(TransformerSettings, {"width": 16, "heads": 4}, "x").width == 16
    with pytest.raises(CheckpointError, match=r"^x: it describes no model that can be built \(.+\)\.$"):
        checked(TransformerSettings, {"width": 16, "heads": 0}, "x")
    with pytest.raises(CheckpointError, match=r'^x: model_type "t5" is not one that can be read \(marian, '):
        form_of({"model_type": "t5"}, "x")

"""Settings of a BERT are the same after a config.json."""

import pytest

from encoder_folders import small_bert
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.encoder_configs import (
    ENCODER_ARCHITECTURES,
    HEADED_ARCHITECTURES,
    NUMBERS,
    check_encoder,
    encoder_config,
    encoder_form,
    encoder_settings,
    lost_in_encoder,
)
from regard.models.bert import BertSettings


@pytest.mark.parametrize("activation", ["gelu", "gelu-tanh", "relu", "silu"])
def test_settings_round_trip(activation):
    settings = small_bert(activation=activation, dropout=0.2, embedding_dropout=0.2, segments=3)
    check_encoder(settings)
    config = encoder_config(settings, 70, ENCODER_ARCHITECTURES[0])
    assert config["vocab_size"] == 70 and config["architectures"] == ["BertForPreTraining"]
    values = encoder_settings(config, "config.json") | {"next_sentence_head": settings.next_sentence_head}
    assert BertSettings(**values) == settings and not lost_in_encoder(settings)


def test_defaults_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig().to_dict()
    for number in NUMBERS:
        assert number.default is None or config[number.theirs] == pytest.approx(number.default), number.theirs


def test_every_architecture_is_found_by_its_name_and_exists_there():
    transformers = pytest.importorskip("transformers")
    for form in (*ENCODER_ARCHITECTURES, *HEADED_ARCHITECTURES):
        assert encoder_form({"architectures": [form.architecture]}, "x") is form
        assert hasattr(transformers, form.architecture) and hasattr(transformers, form.auto)
    assert encoder_form({}, "x").architecture == encoder_form({"architectures": []}, "x").architecture == "BertModel"
    with pytest.raises(CheckpointError, match=r'^x: architecture "BertLMHeadModel" is not one that can be read \('):
        encoder_form({"architectures": ["BertLMHeadModel"]}, "x")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"is_decoder": True}, "x: is_decoder is true, and only a model with false can be read."),
        ({"hidden_size": None}, "x: hidden_size is missing, so the model cannot be built."),
    ],
)
def test_a_config_of_something_else_is_refused(changes, sentence):
    with pytest.raises(CheckpointError) as error:
        encoder_settings(encoder_config(small_bert(), 70, ENCODER_ARCHITECTURES[-1]) | changes, "x")
    assert str(error.value) == sentence


def test_settings_that_bert_cannot_compute_are_refused():
    with pytest.raises(ConfigError) as error:
        check_encoder(small_bert(norm_order="pre"))
    assert str(error.value) == (
        'model.norm_order: "pre" does not fit BERT, the only Hugging Face architecture of a text encoder; '
        '"post" does.'
    )


def test_dropout_that_bert_lacks_is_lost():
    assert lost_in_encoder(small_bert(dropout=0.1, embedding_dropout=0.3)) == ["embedding_dropout"]
    assert lost_in_encoder(small_bert(dropout=0.1, embedding_dropout=0.1)) == []

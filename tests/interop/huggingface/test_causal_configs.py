"""Settings of a causal language model are the same after a config.json, in every architecture."""

import pytest

from language_folders import FORMS, small_gpt
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.causal_configs import (
    LANGUAGE_FORMS,
    check_only,
    language_config,
    language_form_for,
    language_settings,
    lost_rates,
)
from regard.models.gpt.model import GptSettings


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize("embeddings", ["shared", "separate"])
def test_settings_round_trip(name, embeddings):
    settings = small_gpt(**FORMS[name], embeddings=embeddings)
    form = language_form_for(settings)
    assert form.name == name
    config = language_config(settings, 50, settings.max_positions, form)
    assert config["vocab_size"] == 50 and config["architectures"] == [form.architecture]
    read = GptSettings(**language_settings(config, form, "config.json"))
    assert read == settings.model_copy(
        update=dict.fromkeys(lost_rates(settings, form), 0.0) | {"preset": read.preset}
    )


def test_defaults_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    for form in LANGUAGE_FORMS:
        config = transformers.AutoConfig.for_model(form.model_type).to_dict()
        for number in form.numbers:
            if number.default is not None:
                assert config[number.theirs] == pytest.approx(number.default), (form.name, number.theirs)
        assert config[form.activation[0]] == form.activation[1]


@pytest.mark.parametrize("missing", ["n_embd", "n_layer", "n_head", "n_positions"])
def test_a_config_without_a_size_is_refused(missing):
    form = LANGUAGE_FORMS[0]
    config = language_config(small_gpt(), 50, 32, form)
    del config[missing]
    with pytest.raises(CheckpointError) as error:
        language_settings(config, form, "a/config.json")
    assert str(error.value) == f"a/config.json: {missing} is missing, so the model cannot be built."


def test_values_that_compute_something_else_are_refused():
    check_only({"a": None, "b": 1}, {"a": True, "c": False}, "x")
    with pytest.raises(CheckpointError) as error:
        check_only({"a": False}, {"a": True}, "x", "rope.")
    assert str(error.value) == "x: rope.a is false, and only a model with true can be read."


def test_the_nearest_architecture_is_named():
    with pytest.raises(ConfigError) as error:
        language_form_for(small_gpt(**(FORMS["Llama"] | {"has_bias": True})))
    assert str(error.value) == (
        "model.has_bias: true does not fit Llama, the nearest Hugging Face architecture; false does."
    )


def test_dropout_that_an_architecture_lacks_is_lost():
    settings = small_gpt(**(FORMS["Llama"] | {"dropout": 0.1}))
    assert lost_rates(settings, language_form_for(settings)) == ["dropout"]
    assert lost_rates(small_gpt(feed_forward_dropout=0.0), LANGUAGE_FORMS[0]) == []

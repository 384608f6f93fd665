import pytest

from regard.errors import ConfigError
from regard.models import FAMILIES, Vocabularies, count_parameters, family, preset, presets
from regard.studies import preset_parameters

COUNTS = {
    "rnn": 11_019_144,
    "gru": 12_858_248,
    "lstm": 18_243_976,
    "gru-attention": 13_383_560,
    "lstm-attention": 17_457_544,
    "convs2s": 16_336_008,
    "transformer-tiny": 4_062_944,
    "transformer-small": 15_002_624,
    "transformer-base": 63_082_496,
    "transformer-big": 214_245_376,
}


def test_every_preset_has_the_parameters_it_should_at_37000_shared_tokens():
    assert {name: preset_parameters(name, 37_000) for name in presets()} == COUNTS


def test_the_published_sizes_of_the_paper():
    assert round(preset_parameters("transformer-base", 37_000) / 1e6, 1) == 63.1
    assert round(preset_parameters("transformer-big", 37_000) / 1e6, 1) == 214.2


def test_base_counted_by_hand():
    attention = 4 * (512 * 512 + 512)
    feed_forward = 512 * 2048 + 2048 + 2048 * 512 + 512
    encoder = 6 * (attention + feed_forward + 2 * 2 * 512)
    decoder = 6 * (2 * attention + feed_forward + 3 * 2 * 512)
    assert preset_parameters("transformer-base", 37_000) == 37_000 * 512 + encoder + decoder


def test_gru_attention_counted_by_hand():
    encoder = 2 * 3 * (256 * 256 + 256 * 256 + 2 * 256)  # two directions of half the width
    decoder = 3 * ((256 + 512) * 512 + 512 * 512 + 2 * 512)
    attention = 512 * 512 + 512 + 512 * 512 + 512
    bridge = 512 * 512 + 512
    readout = (512 + 256 + 512) * 256 + 256
    table = 37_000 * (256 + 1)
    assert preset_parameters("gru-attention", 37_000) == table + encoder + decoder + attention + bridge + readout


def test_the_road_stays_within_twelve_million_parameters_at_8000_tokens():
    road = [name for name, found in presets().items() if found.settings["family"] != "transformer"]
    assert len(road) == 6 and max(preset_parameters(name, 8_000) for name in road) < 12_000_000


def test_golden_sizes_of_base():
    settings = preset("transformer-base").settings
    assert (settings["encoder_layers"], settings["width"], settings["heads"]) == (6, 512, 8)
    assert family("transformer").settings(**settings).width_of_head == 64


def test_counting_builds_the_model_it_counts():
    settings = family("transformer").settings(**preset("transformer-tiny").settings)
    vocabularies = Vocabularies(100, 100, True)
    real = FAMILIES["transformer"].build(settings, vocabularies)
    assert count_parameters(settings, vocabularies) == sum(parameter.numel() for parameter in real.parameters())


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(ConfigError) as error:
        preset("transformer-smal")
    assert str(error.value) == 'model.preset: there is no preset "transformer-smal"; did you mean transformer-small?'


def test_an_unknown_family_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError) as error:
        family("mamba")
    assert str(error.value) == 'model.family: "mamba" is not one of convolutional, recurrent, transformer.'

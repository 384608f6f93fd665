import subprocess
import sys

import pytest

from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.families import check_kind, count_parameters, family, presets_of
from regard.models.presets import preset, presets
from regard.registry import FAMILIES
from regard.runs.planning.plan import preset_parameters

COUNTS = {
    "bert-tiny": 5_269_130,
    "bert-mini": 12_932_746,
    "bert-small": 32_382_090,
    "bert-medium": 44_991_626,
    "bert-base": 115_088_010,
    "bert-large": 342_866_058,
    "elmo-tiny": 2_756_520,
    "elmo-small": 18_382_696,
    "elmo": 112_647_400,
    "gpt-tiny": 5_562_112,
    "gpt": 113_863_680,
    "gpt2": 114_258_432,
    "gpt2-medium": 341_248_000,
    "gpt2-large": 757_061_120,
    "gpt2-xl": 1_536_400_000,
    "gpt3-small": 115_044_864,
    "rnn-lm": 10_034_568,
    "lstm-lm": 13_318_536,
    "gru-lm": 12_398_984,
    "rnn": 11_019_144,
    "gru": 12_858_248,
    "lstm": 18_243_976,
    "gru-attention": 13_383_560,
    "lstm-attention": 17_457_544,
    "convs2s": 16_336_008,
    "skip-gram": 7_400_000,
    "skip-gram-300": 22_200_000,
    "cbow": 7_400_000,
    "cbow-300": 22_200_000,
    "mask-predict-tiny": 4_200_033,
    "mask-predict-small": 15_035_777,
    "mask-predict-base": 63_148_673,
    "transformer-tiny": 4_062_944,
    "transformer-small": 15_002_624,
    "transformer-base": 63_082_496,
    "transformer-big": 214_245_376,
    "words": 3_700_000,
}


def test_every_preset_has_the_parameters_it_should_at_37000_shared_tokens():
    assert {name: preset_parameters(name, 37_000) for name in presets()} == COUNTS


def test_the_published_sizes_of_the_paper():
    assert round(preset_parameters("transformer-base", 37_000) / 1e6, 1) == 63.1
    assert round(preset_parameters("transformer-big", 37_000) / 1e6, 1) == 214.2


@pytest.mark.parametrize(
    "name, vocabulary, millions",
    [
        ("gpt", 40_478, 116.5),
        ("gpt2", 50_257, 124.4),
        ("gpt2-medium", 50_257, 354.8),
        ("gpt2-large", 50_257, 774.0),
        ("gpt2-xl", 50_257, 1557.6),
    ],
)
def test_the_published_sizes_of_gpt(name, vocabulary, millions):
    assert round(preset_parameters(name, vocabulary) / 1e6, 1) == millions
    assert f"{millions:,} M parameters at its {vocabulary:,} tokens" in preset(name).about


@pytest.mark.parametrize("name, millions", [("bert-base", 110.1), ("bert-large", 336.2)])
def test_the_published_sizes_of_bert(name, millions):
    assert round(preset_parameters(name, 30_522) / 1e6, 1) == millions
    assert f"{millions} M parameters with its heads at its 30,522 tokens" in preset(name).about


def test_base_counted_by_hand():
    attention = 4 * (512 * 512 + 512)
    feed_forward = 512 * 2048 + 2048 + 2048 * 512 + 512
    encoder = 6 * (attention + feed_forward + 2 * 2 * 512)
    decoder = 6 * (2 * attention + feed_forward + 3 * 2 * 512)
    assert preset_parameters("transformer-base", 37_000) == 37_000 * 512 + encoder + decoder


def test_mask_predict_is_a_transformer_that_also_says_the_length():
    said = 256 * (2 * 64 + 1) + 2 * 64 + 1
    assert preset_parameters("mask-predict-small", 37_000) == preset_parameters("transformer-small", 37_000) + said


def test_gru_attention_counted_by_hand():
    encoder = 2 * 3 * (256 * 256 + 256 * 256 + 2 * 256)  # two directions of half the width
    decoder = 3 * ((256 + 512) * 512 + 512 * 512 + 2 * 512)
    attention = 512 * 512 + 512 + 512 * 512 + 512
    bridge = 512 * 512 + 512
    readout = (512 + 256 + 512) * 256 + 256
    table = 37_000 * (256 + 1)
    assert preset_parameters("gru-attention", 37_000) == table + encoder + decoder + attention + bridge + readout


def test_lstm_lm_counted_by_hand():
    first, second = (4 * ((inputs + 512) * 512 + 2 * 512) for inputs in (256, 512))
    narrow = 512 * 256 + 256
    assert preset_parameters("lstm-lm", 37_000) == 37_000 * (256 + 1) + first + second + narrow


def test_the_road_stays_within_twelve_million_parameters_at_8000_tokens():
    road = [name for name in presets_of("seq2seq") if not name.startswith("transformer")]
    assert len(road) == 6 and max(preset_parameters(name, 8_000) for name in road) < 12_000_000


def test_golden_sizes_of_base():
    settings = preset("transformer-base").settings
    assert (settings["encoder_layers"], settings["width"], settings["heads"]) == (6, 512, 8)
    assert family("transformer").settings(**settings).width_of_head == 64


def test_counting_builds_the_model_it_counts():
    settings = family("transformer").settings(**preset("transformer-tiny").settings)
    vocabularies = Vocabularies(100, 100, True)
    token_mask = family("transformer").build(settings, vocabularies)
    assert count_parameters(settings, vocabularies) == sum(parameter.numel() for parameter in token_mask.parameters())


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(ConfigError) as error:
        preset("transformer-smal")
    assert str(error.value) == 'model.preset: there is no preset "transformer-smal"; did you mean transformer-small?'


def test_an_unknown_family_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError) as error:
        family("mamba")
    assert str(error.value) == f'model.family: "mamba" is not one of {", ".join(FAMILIES.names())}.'


def test_every_preset_is_of_one_kind():
    kinds = {name: family(found.settings["family"]).kind for name, found in presets().items()}
    assert [name for name, kind in kinds.items() if kind == "causal-lm"] == presets_of("causal-lm")
    assert {kinds["gpt2"], kinds["lstm-lm"]} == {"causal-lm"} and kinds["lstm"] == "seq2seq"


FITTING = (
    "convs2s, rnn, gru, lstm, gru-attention, lstm-attention, transformer-tiny, transformer-small, transformer-base, "
    "transformer-big."
)


@pytest.mark.parametrize(
    "chosen, found", [("gpt2", 'model.preset: "gpt2"'), (None, 'model.family: "gpt"'), ("rnn", 'model.family: "gpt"')]
)
def test_a_model_of_the_wrong_kind_is_answered_with_those_that_fit(chosen, found):
    with pytest.raises(ConfigError) as error:
        check_kind("translate", ["seq2seq"], "gpt", chosen)
    assert str(error.value) == (
        f"{found} is a language model, but the task translate needs a sequence-to-sequence model; matching "
        f"presets: {FITTING}"
    )


def test_a_task_may_have_a_use_for_several_kinds():
    kinds = ["seq2seq", "conditional-masked-lm"]
    check_kind("translate", kinds, "mask-predict", "mask-predict-small")
    with pytest.raises(
        ConfigError, match="needs a sequence-to-sequence model or a conditional masked language model;"
    ):
        check_kind("translate", kinds, "gpt", None)
    with pytest.raises(
        ConfigError, match='"mask-predict-small" is a conditional masked language model, but the task'
    ):
        check_kind("language-model", ["causal-lm"], "mask-predict", "mask-predict-small")


def test_a_model_of_the_right_kind_is_taken():
    check_kind("translate", ["seq2seq"], "recurrent", "gru")
    check_kind("language-model", ["causal-lm"], "gpt", None)


def test_counting_draws_no_numbers_and_so_does_not_import_the_compiler():
    count = "print(preset_parameters('transformer-tiny', 100), 'torch._dynamo' in sys.modules)"
    code = f"import sys; from regard.runs.planning.plan import preset_parameters; {count}"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [str(preset_parameters("transformer-tiny", 100)), "False"]

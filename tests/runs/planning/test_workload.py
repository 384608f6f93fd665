import math

import pytest

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.runs.planning.devices import DEVICES, utilization
from regard.runs.planning.recipes import find_recipe, resolve_run, without_data
from regard.runs.planning.workload import workload

ANY = Vocabularies(1000, 1000, True)


def settings_of(task, **model):
    changes = {"model": model}
    return resolve_run(*without_data(find_recipe(task), changes)).settings


@pytest.mark.parametrize(
    "task, preset", [("language-model", "gpt-tiny"), ("translate", "lstm-attention"), ("elmo", None)]
)
def test_all_parameters_are_in_one_unit(task, preset):
    settings = settings_of(task, **({} if preset is None else {"preset": preset}))
    load, model = workload(settings, ANY), build_model(settings.model, ANY)
    assert load.parameters == load.share(1) == sum(each.numel() for each in model.parameters())
    assert (
        load.parameters / 7
        <= load.share(7)
        <= load.parameters / 7 + sum(math.prod(shape[1:]) for unit in (*load.blocks, load.rest) for shape in unit)
    )


def test_operations_are_six_a_parameter_beside_attention():
    settings = settings_of("language-model", preset="gpt-tiny", max_positions=256)
    load = workload(settings, ANY)
    tables = (1000 + 256) * 128
    assert load.operations == 6 * (load.parameters - tables + 1000 * 128) + 12 * 4 * 128 * 128
    masked = workload(settings_of("masked-language-model", preset="bert-tiny"), ANY)
    assert masked.labeled == 0.15  # the vocabulary is asked for at masked positions alone


def test_activations_grow_with_tokens_and_shrink_with_processes_that_share_blocks():
    load = workload(settings_of("language-model", preset="gpt-tiny"), ANY)
    assert load.activations(2000, 2, False) == 2 * load.activations(1000, 2, False)
    assert load.activations(1000, 2, False, ways=4) < load.activations(1000, 2, False)
    assert load.activations(1000, 2, True) < load.activations(1000, 2, False)


def test_a_kind_that_was_not_measured_takes_the_lowest_utilization():
    assert utilization("bidirectional-lm") == utilization("seq2seq")
    assert all(device.memory > 2**36 and device.within > device.between for device in DEVICES.values())

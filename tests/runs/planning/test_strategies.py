"""Plans for many devices: formulas as stated, memory as it is, the choice and its command."""

import math

import pytest
import torch
import torch.distributed as dist

import regard
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.language_model import LanguageObjective
from regard.runs.planning.cluster import LATENCY, is_available
from regard.training.parallel.layout import Layout
from regard.training.parallel.replicate import LossModule
from regard.training.parallel.shard import shard

GPT = {"model.preset": "gpt2", "text.size": 50257, "train.tokens_per_update": 2**22}


def planned(overrides=(), task="language-model", **cluster):
    return regard.plan(task, GPT | dict(overrides), cluster={"device": "h200"} | cluster).cluster


def by_strategy(plan):
    return {each.strategy: each for each in plan.estimates}


def test_the_bytes_on_the_wire_are_those_of_a_ring():
    plan = by_strategy(planned(nodes=16, gpus=8))
    size, passes = 4 * 124_439_808, plan["shard"].passes
    assert plan["replicate"].wire == pytest.approx(2 * 127 / 128 * size)
    outside = 4 * (50257 * 768 + 1024 * 768 + 2 * 768)
    assert plan["shard"].wire == pytest.approx(passes * 127 / 128 * (3 * size - outside))
    inside = passes * 7 / 8 * (3 * size - outside)
    assert plan["hybrid"].wire == pytest.approx(inside + passes * 2 * 15 / 16 * size / 8)
    ways = plan["tensor-parallel"].ways
    sums = plan["tensor-parallel"].wire - 2 * (128 / ways - 1) / (128 / ways) * size / ways
    tokens = 2**22 / (128 / ways)
    assert ways == 4 and sums == pytest.approx(4 * 12 * 2 * 3 / 4 * tokens * 768 * 2)


def test_a_step_is_what_the_formula_says():
    cluster = {"nodes": 2, "gpus": 8, "within": 100, "between": 10, "overlap": 0.5, "tokens_per_second": 500_000}
    each = by_strategy(planned(**cluster))["replicate"]
    compute = 2**22 / 16 / 500_000
    wire = each.wire / 80e9 + math.ceil(4 * 124_439_808 / 2**20 / 25) * 2 * 4 * LATENCY
    assert each.compute == pytest.approx(compute)
    assert each.step == pytest.approx(compute + wire - 0.5 * min(wire, 2 / 3 * compute / each.passes))
    assert each.tokens_per_second == pytest.approx(2**22 / each.step)
    assert each.efficiency == pytest.approx(each.tokens_per_second / 16 / 500_000)


def test_one_device_exchanges_nothing_and_has_the_speed_that_was_measured():
    (alone,) = planned().estimates
    assert (alone.wire, alone.strategy) == (0, "replicate")
    assert alone.tokens_per_second == pytest.approx(491_735, rel=0.01)
    (compiled,) = planned({"machine.compile": True}).estimates
    assert compiled.tokens_per_second == pytest.approx(520_025, rel=0.01)


@pytest.mark.parametrize(
    "task, preset_name, size, more, measured",
    [
        ("masked-language-model", "bert-base", 30522, {"sequences.length": 128}, 466_999),
        ("translate", "transformer-base", 32000, {"text.vocabularies": "shared"}, 535_096),
    ],
)
def test_other_kinds_of_models_have_the_speed_that_was_measured_of_them(task, preset_name, size, more, measured):
    words = {"model.preset": preset_name, "text.size": size} | more
    plan = regard.plan(task, words, cluster={"device": "h200"}).cluster
    assert plan.tokens_per_second == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize(
    "task, preset_name, size, length, tokens, gibibytes",
    [
        ("language-model", "gpt2", 50257, {}, 32768, 15.8),
        ("masked-language-model", "bert-base", 30522, {"sequences.length": 128}, 16384, 7.8),
        ("masked-language-model", "bert-base", 30522, {"sequences.length": 512}, 16384, 7.1),
    ],
)
def test_memory_is_within_15_percent_of_the_peaks_on_an_h200(task, preset_name, size, length, tokens, gibibytes):
    words = {"model.preset": preset_name, "text.size": size, "train.tokens_per_update": tokens, "train.ema_decay": 0}
    words |= length | ({"model.dropout": 0, "model.embedding_dropout": 0} if task == "language-model" else {})
    (alone,) = regard.plan(task, words, cluster={"device": "h200"}).cluster.estimates
    assert alone.memory.total / 2**30 == pytest.approx(gibibytes, rel=0.15)


@pytest.fixture
def fake_group():
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=64)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize("name, size", [("gpt2", 50257), ("gpt2-large", 50257), ("bert-large", 30522)])
def test_states_under_shard_are_those_of_a_real_group_of_64(fake_group, name, size):
    task = "masked-language-model" if name.startswith("bert") else "language-model"
    plan = regard.plan(
        task, {"model.preset": name, "text.size": size}, cluster={"nodes": 8, "gpus": 8, "device": "h200"}
    )
    settings = family(preset(name).settings["family"]).settings(**preset(name).settings)
    with torch.device("meta"):
        module = LossModule(build_model(settings, Vocabularies(size, size, True)), LanguageObjective())
    shard(module, torch.device("cpu"), Layout(shards=64))
    held = sum(each.to_local().numel() for each in module.parameters())
    assert by_strategy(plan.cluster)["shard"].memory.states == held * 20  # with the planned average of the weights
    assert plan.parameters == sum(each.numel() for each in module.parameters())


def test_the_chosen_strategy_fits_is_the_fastest_and_can_be_set():
    small = planned(nodes=2, gpus=8)
    assert small.chosen.strategy == "replicate" and small.chosen.efficiency > 0.9
    words = {"model.layers": 80, "model.width": 3200, "model.heads": 32, "train.micro_batch_tokens": 4096}
    large = planned({"model.preset": "gpt2-xl", "model.feed_forward_width": 12800} | words, gpus=8)
    assert not large.estimates[0].fits and large.chosen.strategy != "replicate"
    assert all(is_available(each.strategy) for each in (small.chosen, large.chosen))
    tiny = planned({"model.preset": "gpt2-xl", "model.layers": 1000, "model.width": 6400, "model.heads": 64})
    assert tiny.chosen is None


def test_less_is_kept_where_activations_are_recomputed():
    whole, part = (planned({"train.activation_checkpointing": value}).estimates[0].memory for value in (False, True))
    assert part.activations < 0.3 * whole.activations and part.states == whole.states

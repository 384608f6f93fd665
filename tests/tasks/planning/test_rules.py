"""Planned defaults: what grows with what, and what is left alone."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from regard.tasks.planning import rules, shapes, speed
from regard.tasks.planning.inputs import PlanInput, Survey
from regard.training.settings import MachineSettings, TrainSettings


def plan(characters=3_600_000, device="cuda", parameters=11_000_000, given=(), train=None, init_from=None, **model):
    shape = {"family": "transformer", "width": 256, "norm_order": "pre", "encoder_layers": 5, "dropout": 0.1}
    text = SimpleNamespace(kind="bpe", size=8000, pretokenizer="metaspace")
    settings = SimpleNamespace(
        model=SimpleNamespace(**shape | model),
        text=text,
        train=TrainSettings(**train or {}),
        machine=MachineSettings(),
        init_from=init_from,
    )
    survey = Survey(30_000, characters, sides=2) if characters else None
    return PlanInput(settings, frozenset(given), survey, device, parameters)


def values(defaults):
    return {each.setting: each.value for each in defaults}


def test_vocabularies_grow_with_the_text():
    sizes = [values(rules.vocabulary(plan(n)))["text.size"] for n in (10_000, 300_000, 3_600_000, 60_000_000, 10**12)]
    assert sizes == sorted(sizes) and sizes[0] == 300 and sizes[2] == 8000 and sizes[-1] == 50_000
    assert values(rules.vocabulary(plan(init_from="runs/a"))) == {}
    assert values(rules.vocabulary(plan(None))) == {}


def test_updates_grow_with_the_square_root_of_the_data_and_are_small_on_a_cpu():
    key = "train.tokens_per_update"
    assert values(rules.update_size(plan()))[key] == 8192
    assert values(rules.update_size(plan(16 * 3_600_000)))[key] == 32_768
    assert values(rules.update_size(plan(10**12)))[key] == 65_536
    assert values(rules.update_size(plan(device="cpu")))[key] == 2048
    assert values(rules.update_size(plan(None))) == {}


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        ({}, 2e-3),
        ({"width": 512}, 9.8e-4),
        ({"width": 512, "norm_order": "post"}, 4.9e-4),
        ({"width": 1024, "norm_order": "post", "encoder_layers": 48}, 1.2e-4),
        ({"width": 16}, 5e-3),
        ({"family": "recurrent", "width": 512}, 1.6e-3),
        ({"family": "elmo", "width": 128, "cell_width": 1024}, 1e-3),
        ({"family": "convolutional", "width": 256}, 1.5e-3),
    ],
)
def test_rates_follow_the_shape(model, rate):
    assert values(rules.peak_rate(plan(**model), 8192))["train.learning_rate"] == pytest.approx(rate, rel=0.03)


def test_rates_grow_slowly_with_the_update_and_are_not_planned_for_other_optimizers():
    larger = values(rules.peak_rate(plan(), 65_536))["train.learning_rate"]
    assert 1.3 < larger / values(rules.peak_rate(plan(), 8192))["train.learning_rate"] < 1.4
    assert values(rules.peak_rate(plan(train={"optimizer": "sgd"}), 8192)) == {}
    assert values(rules.peak_rate(plan(train={"schedule": "transformer"}), 8192)) == {}
    assert values(rules.peak_rate(plan(init_from="runs/a"), 8192)) == {}


def test_without_a_length_validation_ends_the_run():
    chosen = values(rules.training(plan(), patience=6))
    assert (chosen["train.schedule"], chosen["train.patience"]) == ("wsd", 6)
    assert chosen["train.warmup"] == 600 and chosen["train.ema_decay"] == 0.999
    assert values(rules.training(plan(norm_order="post"), patience=6))["train.warmup"] == 1500
    fewer = values(rules.training(plan(30_000), patience=6))
    assert fewer["train.steps"] < chosen["train.steps"] and fewer["train.warmup"] < 600


def test_deep_post_norm_stacks_warm_up_slowly_in_short_runs_too():
    def begins(steps, layers=6, order="post", **train):
        given = {"train.steps", *(f"train.{name}" for name in train)}
        chosen = values(
            rules.training(
                plan(norm_order=order, encoder_layers=layers, given=given, train={"steps": steps} | train), 6
            )
        )
        return chosen.get("train.warmup", train.get("warmup")), chosen["train.learning_rate"]

    (short, low), (long, high) = begins(600), begins(20_000)
    assert (short, long) == (200, 1500) and low == pytest.approx(high * (200 / 1500) ** 0.5, rel=0.05)
    slopes = [begins(steps)[1] / begins(steps)[0] for steps in (150, 600, 2000, 20_000)]
    assert slopes == sorted(slopes, reverse=True) and slopes[0] < 8 * slopes[-1]
    assert begins(600, layers=2) == (60, high) and begins(600, order="pre") == (60, 0.002)
    assert begins(600, warmup=1500)[1] == high  # as long as is asked for
    words = next(rules.peak_rate(plan(norm_order="post"), 8192, 300)).reason
    assert words == "width 256, 5 layers, post-norm, a warm-up of 300, updates of 8.19 k tokens"


def test_a_given_length_has_a_schedule_that_ends_with_it():
    chosen = values(rules.training(plan(given={"train.steps"}, train={"steps": 200}), patience=6))
    assert chosen["train.schedule"] == "cosine" and "train.steps" not in chosen
    assert chosen["train.warmup"] == 20 and chosen["train.ema_decay"] == 0.0 and chosen["train.validate_every"] == 16


def test_minutes_make_a_run_of_unknown_length_with_a_warm_up_that_fits():
    chosen = values(rules.training(plan(device="cpu", train={"minutes": 40}), patience=6))
    assert chosen["train.schedule"] == "wsd" and chosen["train.steps"] == rules.OPEN_END
    assert "train.patience" not in chosen and 50 < chosen["train.warmup"] < 400
    hour = values(rules.training(plan(train={"minutes": 60}), patience=6))
    assert hour["train.warmup"] == 600


def test_dropout_falls_with_the_data_for_each_parameter():
    rates = [values(rules.dropout(plan(n), ("dropout", "other")))["model.dropout"] for n in (10**5, 10**7, 10**9)]
    assert rates == [0.3, 0.25, 0.0]
    assert values(rules.dropout(plan(device="cpu"), ("dropout",)))["model.dropout"] == 0.25
    assert values(rules.dropout(plan(10**5), ("dropout",), most=0.1))["model.dropout"] == 0.1
    assert values(rules.dropout(plan(parameters=0), ("dropout",))) == {}
    assert values(rules.dropout(plan(device="cpu", attention_dropout=0.1), ("attention_dropout",))) == {}


def test_only_large_models_in_long_runs_on_a_gpu_are_compiled():
    key = "machine.compile"
    assert values(rules.machine(plan(parameters=50_000_000), 20_000, 65_536))[key]
    assert values(rules.machine(plan(parameters=50_000_000, train={"minutes": 8}), 10, 65_536))[key]
    for given, steps, reason in (
        ({}, 50, "the run is short"),
        ({"parameters": 5_000_000}, 20_000, "5 M parameters gain less than it takes"),
        ({"device": "cpu"}, 20_000, "not on cpu"),
        ({"family": "recurrent"}, 20_000, "not for the family recurrent"),
    ):
        refused = list(rules.machine(plan(**{"parameters": 50_000_000} | given), steps, 65_536))
        assert [(each.value, each.reason) for each in refused] == [(False, reason)] * 2


def test_narrow_models_begin_with_larger_weights():
    assert values(rules.init_spread(plan(init_std=0.02, width=768)))["model.init_std"] == 0.023
    assert values(rules.init_spread(plan(init_std=0.02, width=128)))["model.init_std"] == 0.056
    assert values(rules.init_spread(plan())) == {}


def test_a_gpu_trains_larger_shapes_on_more_text():
    widths = [values(shapes.encoder_shape(plan(n)))["model.width"] for n in (10**5, 10**7, 10**8, 10**10)]
    assert widths == [256, 384, 512, 768]
    assert values(shapes.decoder_shape(plan(10**6)))["model.max_positions"] == 256
    assert values(shapes.decoder_shape(plan(device="cpu"))) == {}


def test_little_time_has_a_shape_that_learns_in_it():
    widths = [
        values(shapes.encoder_shape(plan(10**10, train={"minutes": m})))["model.width"] for m in (0.3, 3, 15, 60)
    ]
    assert widths == [256, 512, 512, 768]
    assert values(shapes.encoder_shape(plan(10**7, train={"minutes": 60})))["model.width"] == 384


def test_an_elmo_on_a_gpu_has_wider_cells_for_more_text():
    cells = [values(shapes.elmo_shape(plan(n))).get("model.cell_width", 128) for n in (10**5, 10**7, 10**9)]
    assert cells == [128, 512, 1024]
    assert values(shapes.elmo_shape(plan(10**9, train={"minutes": 2}))) == {}
    assert values(shapes.elmo_shape(plan(10**9, device="cpu"))) == {}


def test_the_updates_of_a_time_follow_from_size_cores_and_tokens():
    small = plan(device="cpu", parameters=4_200_000)
    assert 5_500 < speed.updates_within(small, 38 * 60, 2048) < 6_500  # measured: 6,000 with its validations
    more = replace(small, cores=16)
    assert 3 < speed.updates_within(more, 600, 2048) / speed.updates_within(small, 600, 2048) < 8
    assert speed.updates_within(small, 1, 2048) == 10
    assert speed.updates_within(plan(), 60, 1024) == 6000  # on a GPU the shortest update decides


def test_a_short_time_has_smaller_updates():
    of = lambda minutes, **more: values(rules.update_size(plan(10**10, train={"minutes": minutes}, **more)))
    sizes = [of(minutes, parameters=10**8)["train.tokens_per_update"] for minutes in (0.1, 0.5, 2, 8)]
    assert sizes == [1024, 8192, 32_768, 65_536]
    assert of(0.5, parameters=0)["train.tokens_per_update"] == 65_536  # nothing is known about its pace
    assert next(rules.update_size(plan(10**10, parameters=10**8, train={"minutes": 1}))).reason == (
        "1 minutes for 100 M parameters"
    )


def test_a_run_of_few_passes_needs_little_regularization():
    def rate(**train):
        given = {f"train.{name}" for name in train} - {"train.minutes"}
        return values(rules.dropout(plan(10**7, train=train, given=given), ("dropout",)))["model.dropout"]

    epoch = plan(10**7).tokens / 16_384
    assert [rate(steps=round(count * epoch)) for count in (0.5, 1, 3, 8, 30)] == [0.0, 0.0, 0.1, 0.25, 0.25]
    assert rate() == rate(epochs=10.0) == 0.25 and rate(minutes=0.005) == 0.0
    assert "0.5 passes" in rules.regularized(plan(10**7, given={"train.epochs"}, train={"epochs": 0.5}))


def test_every_value_has_a_reason():
    for each in (*rules.training(plan(), 6), *rules.vocabulary(plan()), *rules.dropout(plan(), ("dropout",))):
        assert each.reason and not each.reason.endswith(".")

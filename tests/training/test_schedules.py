import math

import pytest
from pydantic import ValidationError

from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings


def rate(step, width=512, **changes):
    return learning_rate(TrainSettings(**changes), step, width)


@pytest.mark.parametrize("width, warmup", [(512, 4000), (512, 8000), (256, 4000)])
def test_golden_the_transformer_s_three_curves(width, warmup):
    at = lambda step: rate(step, width, schedule="transformer", learning_rate=1.0, warmup=warmup)
    for step in (1, 100, warmup, 20_000):
        assert math.isclose(at(step), width**-0.5 * min(step**-0.5, step * warmup**-1.5))
    assert all(at(step) < at(warmup) for step in (1, warmup - 1, warmup + 1, 20_000))
    assert math.isclose(at(warmup), width**-0.5 * warmup**-0.5)


def test_every_schedule_climbs_to_its_peak():
    for schedule in ("inverse-sqrt", "cosine", "linear", "constant"):
        at = lambda step, schedule=schedule: rate(step, schedule=schedule, learning_rate=0.01, warmup=10, steps=100)
        assert math.isclose(at(1), 0.001) and math.isclose(at(5), 0.005) and math.isclose(at(10), 0.01)


def test_what_follows_the_peak():
    at = lambda step, schedule: rate(step, schedule=schedule, learning_rate=0.01, warmup=10, steps=109)
    assert math.isclose(at(40, "inverse-sqrt"), 0.005)
    assert math.isclose(at(60, "linear"), 0.005) and math.isclose(at(60, "cosine"), 0.005)
    assert math.isclose(at(109, "linear"), 0.0001) and at(110, "linear") == at(110, "cosine") == 0
    assert 0 < at(109, "cosine") < at(109, "linear") and at(109, "constant") == 0.01
    assert at(35, "cosine") > at(35, "linear") and at(85, "cosine") < at(85, "linear")


def test_a_schedule_works_without_warm_up():
    assert rate(1, schedule="constant", learning_rate=0.5, warmup=0) == 0.5
    assert rate(1, schedule="inverse-sqrt", learning_rate=0.5, warmup=0) == 0.5


def test_impossible_schedules_are_refused():
    with pytest.raises(
        ValueError, match='warmup: 0 leaves the schedule "transformer" without a peak; set at least 1'
    ):
        TrainSettings(schedule="transformer", warmup=0)
    with pytest.raises(ValueError, match=r"betas: \[0.9, 1.5\] must be at least 0 and below 1"):
        TrainSettings(betas=(0.9, 1.5))


def test_epochs_and_shares_are_counted_in_updates():
    settings = TrainSettings(steps=1000, epochs=2.5, warmup=0.1, validate_every=0.25, schedule="linear")
    assert settings.depends_on_data
    counted = settings.planned(40)
    assert (counted.steps, counted.warmup, counted.validate_every, counted.epochs) == (100, 10, 25, None)
    assert not counted.depends_on_data and counted.planned(7) == counted
    assert settings.planned(4000).steps == 1000
    assert settings.model_copy(update={"warmup": 500}).planned(40).warmup == 99
    assert not TrainSettings().depends_on_data


def test_a_share_lies_between_nothing_and_all():
    for name in ("warmup", "validate_every"):
        with pytest.raises(ValidationError):
            TrainSettings(**{name: 1.5})
        with pytest.raises(ValidationError):
            TrainSettings(**{name: -0.1})

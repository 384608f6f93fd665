"""The plan of a race: settings of a member for a number of steps."""

import pytest

from regard.runs.planning.recipes import Recipe, resolve_run
from regard.studies.race.plan import changed, within

PAIRS = {"task": "translate", "model": {"preset": "transformer-tiny"}, "data": {"train": {"path": "a.tsv"}}}


def resolved(train=None, **overrides):
    settings = {"steps": 1000, "warmup": 100} | (train or {})
    return resolve_run(Recipe("r", "recipe r", PAIRS | {"train": settings}), overrides)


def test_the_warm_up_keeps_its_fraction_of_the_steps():
    train = within(resolved(), 50).settings.train
    assert (train.steps, train.warmup, train.validate_every, train.patience) == (50, 5, 5, 0)
    assert within(resolved({"warmup": 0.2}), 50).settings.train.warmup == 0.2
    assert within(resolved({"warmup": 900}), 1).settings.train.warmup == 0


def test_where_epochs_decide_the_warm_up_is_kept_in_steps():
    train = within(resolved({"steps": 10**7, "epochs": 3.0}), 50).settings.train
    assert (train.steps, train.epochs, train.warmup) == (50, None, 49)
    assert within(resolved({"steps": 10**7, "epochs": 3.0, "warmup": 20}), 50).settings.train.warmup == 20


def test_settings_of_the_command_line_are_kept():
    train = within(resolved(**{"train.warmup": 7, "train.patience": 4}), 50).settings.train
    assert (train.warmup, train.patience, train.validate_every) == (7, 4, 5)


def test_changes_name_their_origin():
    other = changed(resolved(), {"seed": 9}, "the race")
    assert other.settings.seed == 9 and other.source("seed") == "the race"
    assert other.source("train.steps") == resolved().source("train.steps")


@pytest.mark.parametrize("limit", [{}, {"data.cleaning.max_tokens": 33}])
def test_all_members_have_the_same_limit_and_skip_the_checks(limit):
    settings = within(resolved(), 5, limit).settings
    assert settings.data.cleaning.max_tokens == (33 if limit else resolved().settings.data.cleaning.max_tokens)
    assert settings.preflight is False

"""The training plan of a race: each member's number of steps for the budget, fixed before any training."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.data.feeds.sampler import Position
from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress
from regard.studies.doctor.speed import measure_pace
from regard.studies.race.budget import Budget
from regard.studies.race.disciplines import SharedData
from regard.studies.race.records import PlannedRecord
from regard.tasks.settings import RunSettings
from regard.training.settings import TrainSettings

POINTS = 10
"""Validations of a member, evenly spaced: the points of its curve."""
LEAST_STEPS = 2
GIVEN = "the command line"
NO_LIMIT: Mapping[str, int] = MappingProxyType({})


def plan_member(
    settings: RunSettings[ModelSettings], budget: Budget, shared: SharedData, progress: Progress = SILENT
) -> PlannedRecord:
    """Return a member's number of steps for a budget; for a duration, from a trial on a copy of its model."""
    setup = shared.trial_setup(settings, progress)
    parameters = sum(parameter.numel() for parameter in setup.prepared.bundle.model.parameters())
    if budget.kind == "seconds":
        pace = measure_pace(setup, progress)
        steps = max(LEAST_STEPS, pace.updates_in(budget.amount))
        return PlannedRecord(steps=steps, parameters=parameters, seconds_per_step=pace.seconds)
    per_epoch = setup.prepared.feed.updates_in(Position().epoch)
    if budget.kind == "epochs":
        amount = budget.amount * per_epoch
    elif budget.kind == "tokens":
        amount = budget.amount * per_epoch / shared.task.train_tokens(setup.prepared)
    else:
        amount = budget.amount
    least = LEAST_STEPS if budget.kind != "steps" else 1
    return PlannedRecord(steps=max(least, round(amount)), parameters=parameters)


def within(resolved: Resolved[Any], steps: int, limit: Mapping[str, int] = NO_LIMIT) -> Resolved[Any]:
    """Return a member's settings for a number of steps and the sequence limit of all members.

    The warm-up keeps its fraction of the recipe's steps, so that a member with fewer steps has a schedule of the same
    shape. Settings from the command line are kept.
    """
    defaults = {
        "train.epochs": None,
        "train.warmup": _warmup(resolved.settings.train, steps),
        "train.validate_every": math.ceil(steps / POINTS),
        "train.patience": 0,  # every member uses the whole budget
        "train.minutes": None,
    }
    changes = {name: value for name, value in defaults.items() if resolved.source(name) != GIVEN}
    changes |= {"train.steps": steps, "preflight": False} | dict(limit)
    return changed(resolved, changes, "the race")


def _warmup(train: TrainSettings, steps: int) -> int | float:
    """Return the warm-up of a schedule of that many steps; a fraction stays one."""
    if isinstance(train.warmup, float):
        return train.warmup
    if train.is_open:
        return min(train.warmup, max(1, steps // 10))
    # Where epochs decide, the recipe's number of steps is only an upper bound.
    warmup = train.warmup if train.epochs is not None else math.ceil(train.warmup * steps / train.steps)
    return min(warmup, max(0, steps - 1))


def changed(resolved: Resolved[Any], changes: Mapping[str, Any], origin: str) -> Resolved[Any]:
    """Return settings with some of them changed, and their origin."""
    settings = resolved.settings
    layers = [Layer("the run", settings.model_dump(mode="json")), Layer(origin, nested(changes))]
    return Resolved(resolve(type(settings), layers).settings, resolved.sources | dict.fromkeys(changes, origin))

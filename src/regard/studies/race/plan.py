"""What a budget means for each member of a race, found out before any of them learns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.data.feeds.sampler import Position
from regard.models.base.protocols import ModelSettings
from regard.progress import SILENT, Progress
from regard.studies.doctor.speed import measure_pace
from regard.studies.race.budget import Budget
from regard.studies.race.disciplines import SharedData
from regard.tasks.settings import RunSettings

POINTS = 10
"""Validations of a member, evenly spaced: the points of its curve."""
LEAST_STEPS = 2
GIVEN = "the command line"
NO_LIMIT: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Planned:
    """How long one member learns."""

    steps: int
    parameters: int
    seconds_per_step: float | None = None
    """What a trial took, where the budget is a time."""


def plan_member(
    settings: RunSettings[ModelSettings], budget: Budget, shared: SharedData, progress: Progress = SILENT
) -> Planned:
    """Return how many steps the budget gives a member; for a time, by a trial on a copy of its model."""
    setup = shared.trial_setup(settings)
    parameters = sum(parameter.numel() for parameter in setup.prepared.bundle.model.parameters())
    if budget.kind == "seconds":
        pace = measure_pace(setup, progress)
        return Planned(max(LEAST_STEPS, pace.updates_in(budget.amount)), parameters, pace.seconds)
    per_epoch = setup.prepared.feed.updates_in(Position().epoch)
    if budget.kind == "epochs":
        steps = budget.amount * per_epoch
    elif budget.kind == "tokens":
        steps = budget.amount * per_epoch / shared.tokens
    else:
        steps = budget.amount
    return Planned(max(LEAST_STEPS if budget.kind != "steps" else 1, round(steps)), parameters)


def within(resolved: Resolved[Any], steps: int, limit: Mapping[str, int] = NO_LIMIT) -> Resolved[Any]:
    """Return a member's settings for so many steps, on sequences that are limited as for all.

    The warm-up keeps the share of the steps that it has in the recipe, so that a member that gets fewer steps out of
    its time has a schedule of the same shape. What the command line says stays as it is.
    """
    train = resolved.settings.train
    wanted = {
        "train.steps": steps,
        "train.epochs": None,
        "train.warmup": train.warmup
        if isinstance(train.warmup, float)
        else min(math.ceil(train.warmup * steps / train.steps), max(0, steps - 1)),
        "train.validate_every": math.ceil(steps / POINTS),
        "train.patience": 0,  # everybody uses the whole budget
    }
    changes = {name: value for name, value in wanted.items() if resolved.source(name) != GIVEN}
    changes |= {"train.steps": steps, "preflight": False} | dict(limit)
    return changed(resolved, changes, "the race")


def changed(resolved: Resolved[Any], changes: Mapping[str, Any], origin: str) -> Resolved[Any]:
    """Return settings with some of them changed, and where those came from."""
    settings = resolved.settings
    layers = [Layer("the run", settings.model_dump(mode="json")), Layer(origin, nested(changes))]
    return Resolved(resolve(type(settings), layers).settings, resolved.sources | dict.fromkeys(changes, origin))

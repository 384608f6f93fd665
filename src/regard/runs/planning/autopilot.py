"""Planned defaults of a run: the rules of its task, applied below everything that is set."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.config.settings import flatten
from regard.data.sources.label_lists import lists_labels
from regard.errors import ConfigError, RegardError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import count_parameters
from regard.runs.planning.survey import survey
from regard.tasks.contract import AnyTask
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.settings import RunSettings
from regard.training.device.machine import choose_device

R = TypeVar("R", bound=RunSettings[Any])

PLANNED = "planned"
"""The first word of the source of a planned value."""

LAYERS, DEEPEST = ("layers", "encoder_layers", "decoder_layers", "highways"), 200
"""Settings that count layers, and how many of them are built to count a model's parameters."""


@dataclass(frozen=True)
class PlannedValue:
    """The value of a setting, and the reason for it."""

    value: object
    reason: str


def planned(
    task: AnyTask, schema: type[R], layers: Sequence[Layer], base: Layer | None, lines: Sequence[str] = ()
) -> Resolved[R]:
    """Return the settings of a run with planned defaults.

    `layers` are all that is set, weakest first. `base` is the layer of a preset that nobody has chosen: the plan may
    change its shape. `lines` are the training rows where they are yet to be written to the file of the settings.
    """
    given = frozenset(name for layer in layers if layer is not base for name, _ in flatten(layer.values))
    settings = resolve(schema, layers).settings
    source, device = settings.data.train, _device(settings.machine.device)
    cores = settings.machine.threads or torch.get_num_threads()
    has_lists = lists_labels(source, lines)
    plan = PlanInput(settings, given, survey(source, lines), device, has_label_lists=has_lists, cores=cores)
    below, above = list[Layer](), list[Layer]()

    def merged() -> Resolved[R]:
        position = layers.index(base) + 1 if base in layers else 0
        return resolve(schema, [*below, *layers[:position], *above, *layers[position:]])

    if base is not None:
        above += _layers(task.shape(plan))
    below += _layers(task.vocabulary_defaults(plan))
    settings = merged().settings
    plan = replace(plan, settings=settings, parameters=_parameters(settings))
    below += _layers(task.defaults(plan))
    return merged()


def planned_values(resolved: Resolved[R]) -> dict[str, PlannedValue]:
    """Return the values of a run that nobody has set, by dotted name, each with the reason for it."""
    values, start = dict(flatten(resolved.settings.model_dump(mode="json"))), f"{PLANNED}: "
    return {
        name: PlannedValue(values.get(name), source.removeprefix(start))
        for name, source in resolved.sources.items()
        if source.startswith(start)
    }


def _layers(defaults: Iterable[Default]) -> list[Layer]:
    """Return a layer for each value, named by the reason for it."""
    return [Layer(f"{PLANNED}: {each.reason}", nested({each.setting: each.value})) for each in defaults]


def _device(name: str) -> str:
    """Return the type of a device; of one that is not there, the type in its name."""
    try:
        return choose_device(name).type
    except ConfigError:
        return name.partition(":")[0]


def _parameters(settings: RunSettings[Any]) -> int:
    """Return the parameters of a model with a vocabulary of the full size; 0 where that is not known."""
    vocabularies = full_vocabularies(settings)
    if vocabularies is None or sum(int(getattr(settings.model, name, 0)) for name in LAYERS) > DEEPEST:
        return 0
    with suppress(TypeError, ValueError, RuntimeError, RegardError):  # sizes that no model has are refused later
        return count_parameters(settings.model, vocabularies)
    return 0


def full_vocabularies(settings: RunSettings[ModelSettings]) -> Vocabularies | None:
    """Return vocabularies of the full size; None where that is not known."""
    text = getattr(settings, "text", None)
    size = getattr(text, "words", getattr(text, "size", None))
    if size is None or settings.model.family in ("word-vectors", "words"):
        return None
    size = 100 if getattr(text, "kind", "") == "char" else size
    return Vocabularies(size, size, getattr(text, "vocabularies", "shared") == "shared")

"""Planned defaults of a run: the rules of its task, applied below everything that is set."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.config.settings import Settings, flatten
from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.families import count_parameters
from regard.runs.planning.survey import survey
from regard.tasks.contract import AnyTask
from regard.tasks.planning.inputs import Default, PlanInput
from regard.training.device.machine import choose_device

PLANNED = "planned"
"""The first word of the source of a planned value."""


def planned(task: AnyTask, schema: type[Settings], layers: Sequence[Layer], base: Layer | None) -> Resolved[Any]:
    """Return the settings of a run with planned defaults.

    `layers` are all that is set, weakest first. `base` is the layer of a preset that nobody has chosen: the plan may
    change its shape.
    """
    given = frozenset(name for layer in layers if layer is not base for name, _ in flatten(layer.values))
    settings = resolve(schema, layers).settings
    plan = PlanInput(settings, given, survey(settings.data.train), _device(settings.machine.device))
    below, above = [Layer("", {})] * 0, list[Layer]()

    def merged() -> Resolved[Any]:
        position = layers.index(base) + 1 if base in layers else 0
        return resolve(schema, [*below, *layers[:position], *above, *layers[position:]])

    if base is not None:
        above += _layers(task.shape(plan))
    below += _layers(task.vocabulary_defaults(plan))
    settings = merged().settings
    plan = replace(plan, settings=settings, parameters=_parameters(settings))
    below += _layers(task.defaults(plan))
    return merged()


def _layers(defaults: Iterable[Default]) -> list[Layer]:
    """Return a layer for each value, named by the reason for it."""
    return [Layer(f"{PLANNED}: {each.reason}", nested({each.setting: each.value})) for each in defaults]


def _device(name: str) -> str:
    """Return the type of a device; of one that is not there, the type in its name."""
    try:
        return choose_device(name).type
    except ConfigError:
        return name.partition(":")[0]


def _parameters(settings: Any) -> int:
    """Return the parameters of a model with a vocabulary of the full size; 0 where that is not known."""
    text = getattr(settings, "text", None)
    size = getattr(text, "words", getattr(text, "size", None))
    if size is None or settings.model.family in ("word-vectors", "words"):
        return 0
    size = 100 if getattr(text, "kind", "") == "char" else size
    is_shared = getattr(text, "vocabularies", "shared") == "shared"
    return count_parameters(settings.model, Vocabularies(size, size, is_shared))

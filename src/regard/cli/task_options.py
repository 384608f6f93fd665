"""Options that only some tasks have: the union of their settings, and the refusal of those of other tasks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard.cli.options import Flag, Given, flag_name, flags_of
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.contract import AnyTask

Schemas = Mapping["AnyTask", type]
"""The settings of each task that has some."""


def task_flags(schemas: Schemas) -> list[Flag]:
    """Return an option for each field of the settings of tasks, under the models that it is for."""
    flags: dict[str, Flag] = {}
    for schema in schemas.values():
        for flag in flags_of(schema):
            flags.setdefault(flag.name, replace(flag, panel=f"For {owners(schemas, flag.name)}"))
    return list(flags.values())


def owners(schemas: Schemas, name: str) -> str:
    """Return the models of the tasks that have a field: "translators and language models"."""
    return " and ".join(
        dict.fromkeys(task.wording.plural for task, schema in schemas.items() if name in schema.model_fields)  # type: ignore[attr-defined]
    )


def honored(task: "AnyTask", run: str, given: Given, schemas: Schemas) -> dict[str, Any]:
    """Return the options of a task that were given; one of another task is refused."""
    names = dict.fromkeys(name for schema in schemas.values() for name in schema.model_fields)  # type: ignore[attr-defined]
    values = {name: value for name, value in given.values_of(names).items() if value is not False}
    own = schemas[task].model_fields if task in schemas else ()  # type: ignore[attr-defined]
    for name, value in values.items():
        if name not in own:
            raise ConfigError(
                f"{flag_name(name)}{shown(value)}: for {owners(schemas, name)}, and {run} is {task.wording.noun}; "
                f"leave it out."
            )
    return values


def shown(value: object) -> str:
    """Return the value of a flag as it was given, after a space; "" for a flag without one."""
    if value is True:
        return ""
    return " " + (" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))

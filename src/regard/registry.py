"""Names to objects: the built-in tasks and those of installed packages (entry points of the group `regard.tasks`).

Listing names imports nothing; looking one up imports its module. Any layer may ask: what comes back keeps the
contract of `tasks/contract.py`.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from regard.errors import ConfigError

GROUP = "regard.tasks"

BUILT_IN = {
    "translate": "regard.tasks.translate.task:TASK",
    "language-model": "regard.tasks.language_model.task:TASK",
    "masked-language-model": "regard.tasks.masked_lm.task:TASK",
    "elmo": "regard.tasks.elmo.task:TASK",
    "vectors": "regard.tasks.word_vectors.task:TASK",
    "classify": "regard.tasks.classify.task:TASK",
    "regress": "regard.tasks.regress.task:TASK",
    "tag": "regard.tasks.tag.task:TASK",
    "answer": "regard.tasks.answer.task:TASK",
    "choose": "regard.tasks.choose.task:TASK",
}
"""Where each built-in task is: module and attribute."""


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in BUILT_IN}


def task_names() -> list[str]:
    """Return the names of all tasks."""
    return [*BUILT_IN, *_installed()]


def has_task(name: object) -> bool:
    """Return whether there is a task of that name."""
    return isinstance(name, str) and (name in BUILT_IN or name in _installed())


@cache
def task(name: str) -> Any:
    """Return the task of that name."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return getattr(import_module(module), attribute)
    if name in _installed():
        return _installed()[name].load()
    raise ConfigError(f'task: "{name}" is not one of {", ".join(task_names())}.')


def tasks() -> Iterator[Any]:
    """Yield every task."""
    return (task(name) for name in task_names())


def task_of_model(kind: str, head: str | None = None) -> str:
    """Return the name of the first task whose checkpoints hold a model of that kind under that kind of head."""
    for each in tasks():
        if kind in each.files.kinds and (head in each.files.heads if head else not each.files.heads):
            return str(each.name)
    raise ConfigError(f"head.kind: no task has a {kind} model with a head of the kind {head}.")

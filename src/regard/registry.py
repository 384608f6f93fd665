"""Names to objects: what is built in, and what installed packages offer by entry points.

Listing names imports nothing; looking one up imports its module. Any layer may ask: tasks keep the contract of
`tasks/contract.py`, families that of `models/base/family.py`, exporters that of `runs/export/exporters.py`.
"""

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from regard.errors import ConfigError


class Registry:
    """Objects of one kind by name."""

    def __init__(self, group: str, setting: str, built_in: Mapping[str, str], needs: Collection[str]) -> None:
        self.group = group
        """The group of entry points that packages offer more in."""
        self.setting = setting
        """Where a user names one, for messages."""
        self.built_in = dict(built_in)
        """Where each built-in object is: module and attribute."""
        self.needs = needs
        """Attributes that an object must have."""
        self._offered: dict[str, list[EntryPoint]] | None = None
        self._loaded: dict[str, object] = {}

    def _installed(self) -> dict[str, list[EntryPoint]]:
        if self._offered is None:
            self._offered = {}
            for point in entry_points(group=self.group):
                self._offered.setdefault(point.name, []).append(point)
        return self._offered

    def names(self) -> list[str]:
        """Return all names, the built-in ones first."""
        return [*self.built_in, *(name for name in self._installed() if name not in self.built_in)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.built_in or name in self._installed())

    def __iter__(self) -> Iterator[Any]:
        return (self.find(name) for name in self.names())

    def package(self, name: str) -> str | None:
        """Return the package that a name comes from; None: it is built in."""
        is_offered = name in self._installed() and name not in self.built_in
        return _package(self._installed()[name][0]) if is_offered else None

    def find(self, name: str) -> Any:
        """Return the object of that name."""
        if name not in self:
            raise ConfigError(f'{self.setting}: "{name}" is not one of {", ".join(self.names())}.')
        if name in self.built_in and (others := self._installed().get(name)):
            packages = " and ".join(map(_package, others))
            raise ConfigError(
                f'{self.setting}: "{name}" is built in, and the package {packages} has it too; uninstall that, or '
                f"rename its entry point."
            )
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> object:
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            return getattr(import_module(module), attribute)
        point, *others = self._installed()[name]
        if others:
            packages = " and ".join(map(_package, (point, *others)))
            raise ConfigError(f'{self.setting}: "{name}" comes from {packages}; uninstall all but one of them.')
        problem = ""
        try:
            value = point.load()
        except Exception as error:  # code of others may fail in any way
            detail = " ".join(str(error).split())
            problem = f"it does not import ({type(error).__name__}: {detail})"
        else:
            missing = [each for each in self.needs if not hasattr(value, each)]
            if missing:
                problem = f"{point.value} has no {missing[0]}"
            elif getattr(value, "name", name) != name:
                problem = f'{point.value} has the name "{value.name}"'
        if problem:
            raise ConfigError(
                f'{self.setting}: "{name}" of the package {_package(point)} cannot be used: {problem}; update the '
                f"package, or uninstall it."
            )
        return value


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


TASKS = Registry(
    "regard.tasks",
    "task",
    {
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
    },
    ("name", "wording", "files", "metrics", "operations", "settings", "load_data", "build", "prepare", "pipeline"),
)
"""Tasks: what `regard train` takes by name."""

task, tasks, task_names, has_task = TASKS.find, TASKS.__iter__, TASKS.names, TASKS.__contains__

FAMILIES = Registry(
    "regard.families",
    "model.family",
    {
        "bert": "regard.models.bert:FAMILY",
        "convolutional": "regard.models.convolutional:FAMILY",
        "elmo": "regard.models.elmo.model:FAMILY",
        "gpt": "regard.models.gpt.model:FAMILY",
        "mask-predict": "regard.models.transformer.mask_predict:FAMILY",
        "recurrent": "regard.models.recurrent.seq2seq:FAMILY",
        "recurrent-lm": "regard.models.recurrent.language_model:FAMILY",
        "transformer": "regard.models.transformer.model:FAMILY",
        "word-vectors": "regard.models.word_vectors:FAMILY",
        "words": "regard.models.word_embeddings:FAMILY",
    },
    ("settings", "build", "kind", "presets"),
)
"""Kinds of networks."""

EXPORTERS = Registry(
    "regard.exporters",
    "to",
    {"hf": "regard.runs.export.hugging_face:EXPORTER", "checkpoint": "regard.runs.export.checkpoint:EXPORTER"},
    ("summary", "write"),
)
"""Formats of other libraries."""


def packages_of(task: str, family: str) -> dict[str, str]:
    """Return the packages that a model's task and family come from, by name; empty: both are built in."""
    offered = {task: TASKS.package(task), family: FAMILIES.package(family)}
    return {name: package for name, package in offered.items() if package is not None}


def missing_package(packages: Mapping[str, str]) -> str:
    """Return which of a model's packages is not installed, and the way out; empty: none."""
    for name, package in packages.items():
        if name not in TASKS and name not in FAMILIES:
            return f'"{name}" comes from the package {package}, which is not installed; pip install {package}.'
    return ""


def task_of_model(kind: str, head: str | None = None) -> str:
    """Return the name of the first task whose checkpoints hold a model of that kind under that kind of head."""
    for each in TASKS:
        if kind in each.files.kinds and (head in each.files.heads if head else not each.files.heads):
            return str(each.name)
    raise ConfigError(f"head.kind: no task has a {kind} model with a head of the kind {head}.")

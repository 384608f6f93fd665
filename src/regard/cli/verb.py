"""Commands that validate the values of their arguments and options before they run."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from regard.cli.listing import PANELS
from regard.config.parsing import parse_number
from regard.data.sources.lines import is_text
from regard.errors import ConfigError, RunInterrupted

if TYPE_CHECKING:
    from regard.tasks.contract import AnyTask

VERBS = {name: verb for verbs in PANELS.values() for name, verb in verbs.items()}
LARGEST = 2**32 - 1
"""Largest number of any option; an option may set a lower bound."""

PATHS = ("folder", "recipe", "run", "runs")
"""Arguments that are paths: never empty, and of any bytes."""


class VerbCommand(TyperCommand):
    """A command that rejects empty values, bytes that are not UTF-8, and malformed numbers."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments as typer does and check the user's values; defaults are not checked."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        try:
            rest = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            _name_value(error, given)
            raise
        for param in self.params:
            for word in _words(given.get(str(param.name))):
                _check(param, word, ctx.params.get(str(param.name)))
        return rest

    def invoke(self, ctx: Any) -> object:
        """Run the command; a run that a signal has stopped is reported once and exits with code 130."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, RunInterrupted) as stop:
            if not str(stop):
                raise
            if os.environ.get("RANK", "0") == "0":
                typer.echo(str(stop), err=True)
            sys.exit(130)


class Verbs(typer.Typer):
    """A typer app of such commands."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Return the decorator that registers a function as a command."""
        return super().command(name, **{"cls": VerbCommand} | options)


class ListedVerbs(Mapping[str, object]):
    """The commands of `PANELS`; one is imported when it is looked up."""

    def __getitem__(self, name: str) -> object:
        """Return a command."""
        if name in VERBS:
            return _command(name, *VERBS[name])
        return _of_operation(name, _installed_operations()[name])

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(VERBS)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(VERBS)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a command of that name, without importing it."""
        return name in VERBS or name in _installed_operations()


class ListedGroup(TyperGroup):
    """The group of all verbs: its help is made of their summaries, and a verb is imported when it is called."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands: Any = ListedVerbs()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; `predict RUN` is the verb of the model."""
        if args[0] == "predict" and len(args) > 1 and not args[1].startswith("-"):
            args = [*verb_of(args[1]), *args[1:]]
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help from the table of summaries."""
        stubs = {
            name: TyperCommand(name, help=summary, rich_help_panel=panel)
            for panel, verbs in PANELS.items()
            for name, (_, summary) in verbs.items()
        }
        commands, self.commands = self.commands, stubs
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = commands


@cache
def _command(name: str, origin: str, summary: str) -> object:
    """Return the command at an origin of `PANELS`: a function, an app of several, or a task's operation."""
    place, _, attribute = origin.partition(":")
    module = f"regard.{place}.task" if place.startswith("tasks.") else f"regard.cli.{place}"
    target = getattr(
        import_module(module), "TASK" if place.startswith("tasks.") else attribute or name.replace("-", "_")
    )
    return _of_operation(name, target, summary) if hasattr(target, "operations") else _made(name, target)


def _of_operation(name: str, task: "AnyTask", summary: str = "") -> object:
    """Return the command of a task's operation."""
    operation = next(each for each in task.operations if each.name == name)
    made = import_module("regard.cli.predict.operations").operation_verb(task, operation, summary)
    return _made(name, made)


def _installed_operations() -> dict[str, "AnyTask"]:
    """Return the names of the operations of tasks that installed packages bring, each with its task."""
    from regard import registry

    names = [name for name in registry.TASKS.names() if registry.TASKS.package(name) is not None]
    tasks = [registry.TASKS.find(name) for name in names]
    return {operation.name: task for task in tasks for operation in task.operations}


def _made(name: str, target: Any) -> object:
    """Return the command of a function or of an app of several."""
    if not isinstance(target, typer.Typer):
        app = Verbs(add_completion=False)
        app.command(name)(target)
        target = app
    target._add_completion = False  # only the outermost group completes
    command = typer.main.get_command(target)
    command.name = name
    return command


def _words(given: object) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, list | tuple):
        for each in given:
            yield from _words(each)


def _name_value(error: typer.BadParameter, given: Any) -> None:
    """Put the rejected value into the message, where typer gives only the expected type."""
    error.message = str(error.message).removeprefix("Value error, ")
    before, should_be, rest = error.message.partition("Input should be ")
    if should_be and not before and error.param is not None:
        words = list(_words(given.get(str(error.param.name))))
        shown = _shown(words[0]) if len(words) == 1 else "one of them"
        error.message = f"{shown} is not {rest.partition(',')[0]}"


def _check(param: Any, word: str, value: object) -> None:
    is_option = param.param_type_name == "option"
    name = max(param.opts, key=len) if is_option else (param.metavar or str(param.name).upper()).strip("[].")
    first = value[0] if isinstance(value, list | tuple) and value else value
    if not word.strip() and (is_option or param.name in PATHS or hasattr(first, "__fspath__")):
        way_out = "give a value, or leave the option out" if is_option else "name one"
        raise ConfigError(f"{name}: this is empty; {way_out}.")
    # Input paths may have any bytes; output paths are recorded in text files.
    needs_text = param.name == "out" or (isinstance(first, str) and param.name not in PATHS)
    if "\0" in word or (needs_text and not is_text(word)):
        raise ConfigError(f"{name}: {_shown(word)} is not UTF-8 text; convert it first.")
    if isinstance(first, int | float) and not isinstance(first, bool):
        number = parse_number(word)
        if number is None:
            raise ConfigError(f"{name}: {_shown(word)} is not a plain number; write it in digits, such as 3 or 0.5.")
        if abs(number) > LARGEST:
            raise ConfigError(f"{name}: {_shown(word)} is too large; give at most {LARGEST}.")


def _shown(word: str) -> str:
    return f'"{word if len(word) <= 60 else word[:59] + "…"}"'


def verb_of(run: str) -> list[str]:
    """Return the words of the verb of a model's first operation: ["translate"], or ["vectors", "neighbors"]."""
    from regard.runs.scores.model import task_of

    return task_of(run).operations[0].name.split()

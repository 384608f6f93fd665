"""Commands that validate the values of their arguments and options before they run."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from regard.config.parsing import parse_number
from regard.data.sources.lines import is_text
from regard.errors import ConfigError, RunInterrupted

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


def _words(given: Any) -> Iterator[str]:
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
    if not word.strip() and (is_option or param.name in PATHS or _is_path(first)):
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


def _is_path(value: object) -> bool:
    return hasattr(value, "__fspath__")


def _shown(word: str) -> str:
    return f'"{word if len(word) <= 60 else word[:59] + "…"}"'

"""A verb of the command line: the words behind its options are checked in one place, before the verb sees them."""

from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from regard.config.parsing import parse_number
from regard.data.sources.lines import is_text
from regard.errors import ConfigError

LARGEST = 2**32 - 1
"""The largest number that an option takes; an option may set less."""

PLACES = ("folder", "recipe", "run", "runs")
"""Arguments that name a place, and so are never empty; names of files may be made of any bytes."""


class VerbCommand(TyperCommand):
    """A command that refuses empty words, bytes that are no text, and numbers that are none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse words as typer does, and check what the user wrote; defaults are not looked at."""
        written, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        try:
            rest = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            _name_value(error, written)
            raise
        for param in self.params:
            for word in _words(written.get(str(param.name))):
                _check(param, word, ctx.params.get(str(param.name)))
        return rest


class Verbs(typer.Typer):
    """An app whose commands are verbs."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Return what makes a function a verb."""
        return super().command(name, **{"cls": VerbCommand} | options)


def _words(written: Any) -> Iterator[str]:
    if isinstance(written, str):
        yield written
    elif isinstance(written, list | tuple):
        for each in written:
            yield from _words(each)


def _name_value(error: Any, written: Any) -> None:
    """Say which value an option refuses, where typer says only what it should be."""
    error.message = str(error.message).removeprefix("Value error, ")
    said, should_be, rest = error.message.partition("Input should be ")
    if should_be and not said and error.param is not None:
        words = list(_words(written.get(str(error.param.name))))
        shown = _shown(words[0]) if len(words) == 1 else "one of them"
        error.message = f"{shown} is not {rest.partition(',')[0]}"


def _check(param: Any, word: str, value: Any) -> None:
    is_option = param.param_type_name == "option"
    name = max(param.opts, key=len) if is_option else (param.metavar or str(param.name).upper()).strip("[].")
    first = value[0] if isinstance(value, list | tuple) and value else value
    if not word.strip() and (is_option or param.name in PLACES or _is_path(first)):
        way_out = "give a value, or leave the option out" if is_option else "name one"
        raise ConfigError(f"{name}: this is empty; {way_out}.")
    # A file to read may be called by any bytes; what is written is named in files of text.
    is_words = param.name == "out" or (isinstance(first, str) and param.name not in PLACES)
    if "\0" in word or (is_words and not is_text(word)):
        raise ConfigError(f"{name}: {_shown(word)} is not UTF-8 text; convert it first.")
    if isinstance(first, int | float) and not isinstance(first, bool):
        number = parse_number(word)
        if number is None:
            raise ConfigError(f"{name}: {_shown(word)} is not a plain number; write it in digits, such as 3 or 0.5.")
        if abs(number) > LARGEST:
            raise ConfigError(f"{name}: {_shown(word)} is too large; give at most {LARGEST}.")


def _is_path(value: Any) -> bool:
    return hasattr(value, "__fspath__")


def _shown(word: str) -> str:
    return f'"{word if len(word) <= 60 else word[:59] + "…"}"'

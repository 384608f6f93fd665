"""Options of verbs, generated from fields of settings, and what a verb does with those that were given."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import typer

from regard.cli.console import Shown, print_json, print_line, print_table
from regard.config.overrides import parse_value
from regard.config.parsing import parse_integer
from regard.config.resolve import Layer as ValueLayer
from regard.config.resolve import resolve
from regard.config.schema import fields_of
from regard.config.settings import Settings
from regard.progress import SILENT, Progress
from regard.reporting.bars import bars

S = TypeVar("S", bound=Settings)
Verb = Callable[..., None]

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="Folder of a run or checkpoint, or hf:DIR (a Hugging Face folder).")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
Recipe = Annotated[
    str, typer.Argument(metavar="RECIPE", help="Recipe name (see `regard recipes`), TOML file, or task.")
]
SettingWords = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to override, such as train.steps=1000.")
]
Inputs = Annotated[list[str] | None, typer.Argument(metavar="[INPUT]...", help="Inputs and options of its own verb.")]
RunsFolder = Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder of runs, subfolders included.")]

LETTERS = {"top": "-k", "count": "-n", "yes": "-y"}
"""Short forms of options."""

PLAIN = (int, float, str, bool, Path)
"""Types of a field that are the type of its option."""


class Given(dict[str, Any]):
    """The options of a verb by name, and their common uses; one that was not given is None: other layers decide."""

    @cached_property
    def progress(self) -> Progress:
        """The progress reporter: silent with --quiet."""
        return SILENT if self.get("quiet") else bars()

    @property
    def device(self) -> str:
        """The device; the number of threads is set too."""
        from regard.training.device.machine import use_threads

        use_threads(self.get("threads"))
        return self.get("device") or "auto"

    def show(self, values: Any, *parts: Shown, indent: int | None = 2) -> None:
        """Print values as JSON with --json, else the lines and tables that show them."""
        if self.get("json"):
            print_json(values, indent)
            return
        for part in parts:
            print_line(part) if isinstance(part, str) else print_table(*part)

    def values_of(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the options of these names that were given."""
        return {name: self[name] for name in names if self.get(name) is not None}

    def settings(self, schema: type[S]) -> S:
        """Return the options of a schema that were given, checked; errors name their flags."""
        return resolve(schema, self.layers(schema.model_fields)).settings

    def layers(self, names: Iterable[str]) -> list[ValueLayer]:
        """Return the options of these names that were given as layers, each named after its flag."""
        return [ValueLayer(flag_name(name), {name: value}) for name, value in self.values_of(names).items()]


@dataclass(frozen=True)
class Flag:
    """An option of a verb, made of a field."""

    name: str
    type: object
    """The annotation of the field."""
    doc: str
    panel: str | None = None
    letter: str | None = None
    default: object = None
    """The default shown in help; the option's own is always None."""
    is_required: bool = False
    bounds: tuple[tuple[str, float], ...] = ()

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter that typer makes the option of."""
        kind, name = option_type(self.type), flag_name(self.name)
        words = [f"{name}/--no-{name[2:]}" if kind is bool and self.default is not False else name]
        has_default = self.default not in (None, (), "", False) and "(default" not in self.doc
        shown = self.default if not isinstance(self.default, tuple) else ", ".join(map(str, self.default))
        text = f"{self.doc.rstrip('.')} (default: {shown})." if has_default else self.doc
        letters = [self.letter] if self.letter else []
        limits = self._limits if kind in (int, float) else {}
        option = typer.Option(*words, *letters, help=text, rich_help_panel=self.panel, **limits)
        default = inspect.Parameter.empty if self.is_required else None
        annotation = Annotated.__class_getitem__((kind if self.is_required else kind | None, option))  # type: ignore[attr-defined]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    @property
    def _limits(self) -> dict[str, Any]:
        """The closed bounds, which are refused before anything is loaded; open ones are left to `resolve`."""
        bounds = dict(self.bounds)
        if "lt" in bounds and option_type(self.type) is int:
            bounds["le"] = bounds["lt"] - 1
        return {name: bounds[bound] for name, bound in (("min", "ge"), ("max", "le")) if bound in bounds}


def flag_name(name: str) -> str:
    """Return the flag of a field: `--beam-size` for beam_size."""
    return f"--{name.replace('_', '-')}"


def flags_of(
    schema: type,
    *names: str,
    panel: str | None = None,
    shows_defaults: bool = False,
    is_layered: bool = False,
) -> list[Flag]:
    """Return an option for each field of a schema (or for those named, in that order).

    With `is_layered` none is required: a recipe or a checkpoint may have the value.
    """
    fields = {each.name: each for each in fields_of(schema)}
    return [
        Flag(
            name,
            fields[name].type,
            fields[name].doc,
            panel or fields[name].group or None,
            LETTERS.get(name),
            fields[name].default if shows_defaults and not fields[name].is_required else None,
            fields[name].is_required and not is_layered,
            fields[name].bounds,
        )
        for name in names or fields
    ]


def option_type(annotation: object) -> Any:
    """Return what typer reads for a field: a plain type, a list for a tuple, text for choices and unions."""
    kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    parts = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) in (Union, UnionType):
        return option_type(parts[0]) if len(parts) == 1 else str
    if get_origin(kind) in (tuple, list, Sequence):
        return GenericAlias(list, (option_type(parts[0]) if parts else str,))
    return kind if kind in PLAIN else str


def option_value(annotation: object, value: object) -> object:
    """Return the value of an option as its field takes it: columns and unions are read, other texts stay."""
    if isinstance(value, list):
        inner = get_args(annotation)[0] if get_args(annotation) else str
        return [option_value(inner, each) for each in value]
    kinds = [get_args(part)[0] if get_origin(part) is Annotated else part for part in get_args(annotation)]
    if not isinstance(value, str) or get_origin(annotation) not in (Union, UnionType):
        return value
    if str in kinds:
        return column(value) if int in kinds else value
    return parse_value(value) if {int, float, bool} & set(kinds) else value


JSON = Flag("json", bool, "Print JSON instead of text.", default=False)
QUIET = Flag("quiet", bool, "Suppress progress and messages.", letter="-q", default=False)
OUT = Flag("out", Path, "Output table: .csv, .tsv or .jsonl (default: standard output).")
OVERWRITE = Flag("overwrite", bool, "Replace what exists.", default=False)


def options(*given_by: Flag | type[Settings]) -> Callable[[Callable[..., None]], Verb]:
    """Return the decorator that replaces a verb's first parameter, `given`, by options: those of flags and fields."""
    flags = [
        flag
        for each in given_by
        for flag in ([each] if isinstance(each, Flag) else flags_of(each, shows_defaults=True))
    ]
    own = {flag.name: flag for flag in flags}

    def decorate(function: Callable[..., None]) -> Verb:
        arguments = list(inspect.signature(function).parameters.values())[1:]
        parameters = [*arguments, *(flag.parameter for flag in own.values())]
        signature = inspect.Signature(parameters)

        @wraps(function)
        def verb(*args: object, **named: object) -> None:
            bound = signature.bind(*args, **named)
            bound.apply_defaults()
            values = bound.arguments
            given = Given({name: option_value(flag.type, values.pop(name)) for name, flag in own.items()})
            function(given, **values)

        verb.__signature__ = signature  # type: ignore[attr-defined]
        verb.__annotations__ = {each.name: each.annotation for each in parameters}
        return verb

    return decorate


def column(word: str) -> str | int:
    """Return a column given by a user: an index if it is digits, else a name."""
    number = parse_integer(word)
    return word if number is None or not word[0].isdigit() else number

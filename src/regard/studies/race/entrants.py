"""Who takes part in a race: one member for each model, or for each value of one setting."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from regard.config.overrides import nested, parse_value
from regard.config.resolve import Resolved, suggestion
from regard.config.settings import Settings, flatten, schemas_in
from regard.errors import ConfigError
from regard.models.families import family
from regard.models.presets import preset
from regard.progress import SILENT, Progress
from regard.runs.planning.recipes import Recipe, find_recipe, resolve_run
from regard.studies.race.disciplines import race_metrics
from regard.tasks.contract import find_task

SHARED = ("data", "text", "task", "window")
"""Groups of settings that all members have in common."""


@dataclass(frozen=True)
class Lineup:
    """What a user asks for: a recipe, the models that run it, and the one setting that is varied."""

    recipe: str
    models: Sequence[str] = ()
    """Presets; none: the recipe's own model."""
    vary: str | None = None
    """A setting, all of whose values are tried, or SETTING=VALUE,VALUE."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings by dotted name."""


@dataclass(frozen=True)
class Member:
    """One model in a race, under a name that can be a folder's."""

    name: str
    resolved: Resolved[Any]

    @property
    def settings(self) -> Any:
        """The settings of its run."""
        return self.resolved.settings


def enter(lineup: Lineup, progress: Progress = SILENT) -> list[Member]:
    """Return the members of a race, each with all its settings; every mistake in them is found here."""
    recipe = find_recipe(lineup.recipe)
    overrides = dict(flatten(nested(lineup.overrides)))
    models = list(lineup.models)
    for name in models:
        preset(name)  # a name that nobody knows
    if doubled := next((name for name in models if models.count(name) > 1), None):
        raise ConfigError(f'--models: "{doubled}" is named twice; name each model once.')
    if models and "model.preset" in overrides:
        raise ConfigError("model.preset: a race takes its models from --models; leave one of the two out.")
    bases = _of_models(recipe, overrides, models, progress) if models else [(nested(recipe.values), overrides)]
    found: dict[str, Member] = {}
    for values, own in bases:
        for label, changes in _variants(lineup.vary, Recipe(recipe.name, recipe.origin, values), own):
            resolved = resolve_run(Recipe(recipe.name, recipe.origin, values), own | changes)
            race_metrics(find_task(resolved.settings.task))
            name = _folder_name(resolved.settings.model.preset or recipe.name, label)
            if name in found:
                raise ConfigError(f'--vary: two values would both be called "{name}"; name each value once.')
            found[name] = Member(name, resolved)
    if len(found) < 2:
        raise ConfigError(
            f'A race needs two members, and there is only "{next(iter(found))}"; name more with --models, or a '
            f"setting with --vary."
        )
    return list(found.values())


def _of_models(
    recipe: Recipe, overrides: dict[str, Any], models: Sequence[str], progress: Progress
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the recipe and the overrides as each model takes them: without what only the others have."""
    table = nested(recipe.values).get("model", {})
    known = {name: _model_settings(name) for name in models}
    anywhere = set().union(*known.values())
    in_recipe = anywhere | (_model_settings(str(table["preset"])) if "preset" in table else set())
    table.pop("family", None)  # the preset of a member says it
    given = {key: recipe.origin for key in table if key != "preset"}
    given |= {key.removeprefix("model."): "the command line" for key in overrides if key.startswith("model.")}
    for key, origin in given.items():
        without = [name for name in models if key in in_recipe and key not in known[name]]
        if without:
            progress.say(f"model.{key} (from {origin}) is no setting of {', '.join(without)}, and is left out there.")
    bases = []
    for name in models:
        # A setting that no model has stays, and is refused as always.
        kept = {key: value for key, value in table.items() if key in known[name] or key not in in_recipe}
        foreign = {f"model.{key}" for key in anywhere - known[name]}
        own = {key: value for key, value in overrides.items() if key not in foreign}
        bases.append((nested(recipe.values) | {"model": kept}, own | {"model.preset": name}))
    return bases


def _model_settings(name: str) -> set[str]:
    return set(family(preset(name).settings["family"]).settings.model_fields)


def _variants(vary: str | None, recipe: Recipe, overrides: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Return a label and the changed setting for each value that is to be tried."""
    if vary is None:
        return [(None, {})]
    name, equals, words = vary.partition("=")
    name = name.strip()
    group = name.partition(".")[0]
    if group in SHARED:
        raise ConfigError(f"--vary {name}: members of a race share data and tokenizer; vary another setting.")
    if name in ("train.steps", "model.preset", "model.family"):
        way_out = "--budget" if name == "train.steps" else "--models"
        raise ConfigError(f"--vary {name}: this is what {way_out} says in a race; vary another setting.")
    schema = type(resolve_run(recipe, overrides).settings)
    annotation = _annotation(schema, name)
    values = [parse_value(word.strip()) for word in words.split(",") if word.strip()] if equals else None
    if values is None:
        values = [value for value in _allowed(annotation) if value != "none"]  # that races when it is named
    if not values:
        raise ConfigError(f"--vary {name}: name the values to try, as in --vary {name}=VALUE,VALUE.")
    return [(value if isinstance(value, str) else json.dumps(value), {name: value}) for value in values]


def _annotation(schema: type[Settings], name: str) -> Any:
    """Return what a setting may hold, found by its dotted name."""
    here: type[Settings] | None = schema
    annotation: Any = None
    for part in name.split("."):
        if here is None or part not in here.model_fields:
            raise ConfigError(f"--vary {name}: unknown setting; {suggestion(name, schema)}")
        annotation = here.model_fields[part].annotation
        here = next(schemas_in(annotation), None)
    if here is not None:
        inside = next(iter(here.model_fields))
        raise ConfigError(f"--vary {name}: this is a group of settings; name one of them, such as {name}.{inside}.")
    return annotation


def _allowed(annotation: Any) -> list[Any]:
    """Return all values of a setting that has only a few; of any other, none."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return [value for part in get_args(annotation) for value in _allowed(part)]
    return [False, True] if annotation is bool else []


def _folder_name(model: str, label: str | None) -> str:
    words = model if label is None else f"{model}-{label}"
    return re.sub(r"[^\w.+-]+", "-", words).strip("-.")

"""The members of a race: one for each model, or for each value of one setting."""

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
"""Groups of settings that must be the same for all members."""


@dataclass(frozen=True)
class Lineup:
    """The definition of a race: a recipe, the models to train with it, and the setting that is varied."""

    recipe: str
    models: Sequence[str] = ()
    """Presets (default: the recipe's model)."""
    vary: str | None = None
    """SETTING=VALUE,VALUE, or a setting alone for all its values."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings by dotted name."""


@dataclass(frozen=True)
class Member:
    """One model of a race; its name is a valid folder name."""

    name: str
    resolved: Resolved[Any]

    @property
    def settings(self) -> Any:
        """The settings of its run."""
        return self.resolved.settings


def enter(lineup: Lineup, progress: Progress = SILENT) -> list[Member]:
    """Return the members of a race with their settings resolved; every invalid setting is refused here."""
    recipe = find_recipe(lineup.recipe)
    overrides = dict(flatten(nested(lineup.overrides)))
    models = list(lineup.models)
    for name in models:
        preset(name)  # refuses an unknown name
    if doubled := next((name for name in models if models.count(name) > 1), None):
        raise ConfigError(f'--models: "{doubled}" is named twice; name each model once.')
    if models and "model.preset" in overrides:
        raise ConfigError("model.preset: a race takes its models from --models; leave one of the two out.")
    bases = _of_models(recipe, overrides, models, progress) if models else [(nested(recipe.values), overrides)]
    members: dict[str, Member] = {}
    for values, given in bases:
        for label, changes in _variants(lineup.vary, Recipe(recipe.name, recipe.origin, values), given):
            resolved = resolve_run(Recipe(recipe.name, recipe.origin, values), given | changes)
            race_metrics(find_task(resolved.settings.task))
            name = _folder_name(resolved.settings.model.preset or recipe.name, label)
            if name in members:
                raise ConfigError(f'--vary: two values would both be called "{name}"; name each value once.')
            members[name] = Member(name, resolved)
    if len(members) < 2:
        raise ConfigError(
            f'A race needs two members, and there is only "{next(iter(members))}"; name more with --models, or a '
            f"setting with --vary."
        )
    return list(members.values())


def _of_models(
    recipe: Recipe, overrides: dict[str, Any], models: Sequence[str], progress: Progress
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the recipe and the overrides for each model, without the settings that only other models have."""
    table = nested(recipe.values).get("model", {})
    known = {name: _model_settings(name) for name in models}
    anywhere = set().union(*known.values())
    in_recipe = anywhere | (_model_settings(str(table["preset"])) if "preset" in table else set())
    table.pop("family", None)  # follows from the preset of a member
    given = {key: recipe.origin for key in table if key != "preset"}
    given |= {key.removeprefix("model."): "the command line" for key in overrides if key.startswith("model.")}
    for key, origin in given.items():
        without = [name for name in models if key in in_recipe and key not in known[name]]
        if without:
            progress.info(
                f"model.{key} (from {origin}) is not a setting of {', '.join(without)}, and is left out there."
            )
    bases = []
    for name in models:
        # A setting that no model has is kept, and refused by `resolve`.
        kept = {key: value for key, value in table.items() if key in known[name] or key not in in_recipe}
        foreign = {f"model.{key}" for key in anywhere - known[name]}
        own = {key: value for key, value in overrides.items() if key not in foreign}
        bases.append((nested(recipe.values) | {"model": kept}, own | {"model.preset": name}))
    return bases


def _model_settings(name: str) -> set[str]:
    return set(family(preset(name).settings["family"]).settings.model_fields)


def _variants(vary: str | None, recipe: Recipe, overrides: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Return a label and the overrides for each value of the varied setting."""
    if vary is None:
        return [(None, {})]
    name, equals, words = vary.partition("=")
    name = name.strip()
    group = name.partition(".")[0]
    if group in SHARED:
        raise ConfigError(f"--vary {name}: members of a race share data and tokenizer; vary another setting.")
    if name in ("train.steps", "model.preset", "model.family"):
        way_out = "--budget" if name == "train.steps" else "--models"
        raise ConfigError(f"--vary {name}: a race sets this with {way_out}; vary another setting.")
    schema = type(resolve_run(recipe, overrides).settings)
    annotation = _annotation(schema, name)
    values = [parse_value(word.strip()) for word in words.split(",") if word.strip()] if equals else None
    if values is None:
        values = [value for value in _allowed(annotation) if value != "none"]  # included only by name
    if not values:
        raise ConfigError(f"--vary {name}: name the values to try, as in --vary {name}=VALUE,VALUE.")
    return [(value if isinstance(value, str) else json.dumps(value), {name: value}) for value in values]


def _annotation(schema: type[Settings], name: str) -> Any:
    """Return the type of a setting by its dotted name."""
    group: type[Settings] | None = schema
    annotation: Any = None
    for part in name.split("."):
        if group is None or part not in group.model_fields:
            raise ConfigError(f"--vary {name}: unknown setting; {suggestion(name, schema)}")
        annotation = group.model_fields[part].annotation
        group = next(schemas_in(annotation), None)
    if group is not None:
        inside = next(iter(group.model_fields))
        raise ConfigError(f"--vary {name}: this is a group of settings; name one of them, such as {name}.{inside}.")
    return annotation


def _allowed(annotation: Any) -> list[Any]:
    """Return the values of a choice or a boolean setting; empty for any other."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return [value for part in get_args(annotation) for value in _allowed(part)]
    return [False, True] if annotation is bool else []


def _folder_name(model: str, label: str | None) -> str:
    words = model if label is None else f"{model}-{label}"
    return re.sub(r"[^\w.+-]+", "-", words).strip("-.")

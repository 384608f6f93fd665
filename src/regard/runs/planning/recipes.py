"""Recipes: shipped ones by name, the user's own by path, and a bare task with its defaults."""

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from regard import registry
from regard.config.overrides import nested
from regard.config.parsing import ParseError, parse_toml
from regard.config.resolve import Layer, Resolved, check_texts
from regard.config.settings import Settings, setting_names
from regard.data.sources.memory import memory_lines
from regard.errors import ConfigError, DataError
from regard.models.base.settings import COMMON_SETTINGS
from regard.models.families import DEFAULT_FAMILY, check_kind, family
from regard.models.presets import preset
from regard.runs.planning.autopilot import planned
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.embedding_init import GROUP, embedding_layer
from regard.tasks.init_from import init_layer, prefer_tokens

SOURCE_FLAGS = {"source": "--source", "target": "--target", "path": "--data", "paths": "--text"}
"""The settings that name files, and the flags for them."""


REQUIRED = "(required)"
"""The path of training data that a recipe leaves to its user."""


@dataclass(frozen=True)
class Recipe:
    """Settings by name: a shipped recipe, a file, or a task's defaults."""

    name: str
    origin: str
    values: Mapping[str, Any]


def shipped() -> dict[str, Recipe]:
    """Return every recipe in the package, by name."""
    folder = resources.files("regard") / "recipes"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    recipes = {}
    for file in files:
        name = file.name.removesuffix(".toml")
        recipes[name] = Recipe(name, f"recipe {name}", tomllib.loads(file.read_text(encoding="utf-8")))
    return recipes


def find_recipe(name: str) -> Recipe:
    """Return the recipe of a name, of a file, or of a task with its defaults."""
    if registry.has_task(name):
        return Recipe(name, f"task {name}", {"task": name})
    if name.endswith(".toml"):
        return _read(Path(name))
    known = shipped()
    if name in known:
        return known[name]
    if Path(name).exists():
        setting, flag = ("path", "--data") if Path(name).suffix not in ("", ".txt") else ("paths", "--text")
        raise ConfigError(
            f"{name}: this is data, not a recipe; name a task first: regard train TASK {flag} {name}, or "
            f'regard.train(TASK, {{"data.train.{setting}": "{name}"}}) in Python.'
        )
    near = difflib.get_close_matches(name, [*known, *registry.task_names()], n=1, cutoff=0.5)
    way_out = f"did you mean {near[0]}?" if near else f"known are {', '.join([*known, *registry.task_names()])}."
    raise ConfigError(f'There is no recipe "{name}" (a file would end in .toml); {way_out}')


def chosen_recipe(given: object) -> Recipe:
    """Return the recipe of a name, of a file, or of nested settings."""
    if isinstance(given, (str, Path)):
        return find_recipe(str(given))
    if isinstance(given, Mapping):
        return Recipe(str(given.get("task", "run")), "the call", given)
    calls = " or ".join(f'regard.train("{name}", data=rows)' for name in _tasks_of(given))
    raise ConfigError(
        "recipe: name a recipe, a task or a TOML file; rows go in as data=rows, "
        + (f"such as {calls}." if calls else "as in regard.train(TASK, data=rows).")
    )


def _tasks_of(rows: object) -> list[str]:
    """Return the tasks that take such rows."""
    names = []
    for task in registry.tasks():
        with suppress(DataError):
            memory_lines(rows[:1] if isinstance(rows, list) else rows, task.rows)
            names.append(task.name)
    return names


def _read(path: Path) -> Recipe:
    try:
        values = parse_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such recipe file; check the path.") from None
    except (ParseError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: this is not TOML ({error}).") from None
    return Recipe(path.stem, f"recipe {path}", values)


def without_data(recipe: Recipe, changes: dict[str, object]) -> tuple[Recipe, dict[str, object]]:
    """Return a recipe and its overrides with a placeholder for training data that neither of them names."""
    name = changes.get("task", recipe.values.get("task"))
    tables = [table for table in (recipe.values.get("data"), changes.get("data")) if table is not None]
    if isinstance(name, str) and not any(not isinstance(table, dict) or "train" in table for table in tables):
        source = {"paths": [REQUIRED]} if "paths" in find_task(name).source.model_fields else {"path": REQUIRED}
        values = {**recipe.values, "data": {**recipe.values.get("data", {}), "train": source}}
        recipe = replace(recipe, values=values)
    return recipe, changes


def resolve_run(recipe: Recipe, overrides: Mapping[str, Any], lines: Sequence[str] = ()) -> Resolved[Any]:
    """Return the settings of a run: defaults < preset < recipe < command line; `lines` are rows from memory."""
    values = nested(recipe.values)
    changes = nested(overrides)
    check_texts(values)
    check_texts(changes)
    _check_tables(values, changes)
    _replace_sources(_table(values, "data"), _table(changes, "data"))
    _fit_length(_table(values, "train"), _table(changes, "train"))
    name = changes.get("task", values.get("task"))
    if name is not None and not isinstance(name, str):
        raise ConfigError(f"task: {json.dumps(name, default=str)} is not one of {', '.join(registry.task_names())}.")
    if name is None:
        raise ConfigError(f'{recipe.origin}: it names no task; add task = "{registry.task_names()[0]}".')
    task = find_task(name)
    rules = task.init_from
    pretrained = init_layer(name, rules, values, changes) if rules else None
    if rules and rules.has_new_head:
        prefer_tokens(values, changes)
    is_free = (
        pretrained is None and not values.get("model") and not {"preset", "family"} & {*_table(changes, "model")}
    )
    if is_free:
        values["model"] = {"preset": task.preset}
    if pretrained is None:
        base, kind = _base(task, values, changes)
    else:
        base, kind = pretrained, str(pretrained.values["model"]["family"])
    if not {"train"} & {*_table(values, "data"), *_table(changes, "data")}:
        raise ConfigError(
            f"{recipe.origin}: it names no training data; give {task.wording.data_flags} (data.train in a recipe)."
        )
    schema = task.settings(family(kind).settings)
    _check_sources(task, _table(changes, "data"), schema)
    embeddings = None
    if GROUP in schema.model_fields:
        preset_values = base.values["model"] if base else {}
        embeddings = embedding_layer(family(kind).settings.model_fields, preset_values, values, changes)
    origins = [base, Layer(recipe.origin, values), embeddings, Layer("the command line", changes)]
    layers = [layer for layer in origins if layer]
    return planned(task, schema, layers, base if is_free else None, lines)


def _fit_length(recipe: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Fit a recipe to the length that a user gives: a shorter warm-up for fewer steps; minutes replace steps."""
    if given.get("minutes") is not None:
        for name in {"steps", "epochs", "schedule", "warmup", "patience", "validate_every"} - set(given):
            recipe.pop(name, None)
    before, now, warmup = recipe.get("steps"), given.get("steps"), recipe.get("warmup")
    if "warmup" in given or not (isinstance(now, int) and isinstance(warmup, int)) or now < 1:
        return
    if isinstance(before, int) and now < before:
        recipe["warmup"] = min(now - 1, max(min(1, warmup), warmup * now // before))
    elif warmup >= now:  # a recipe without a length of its own
        recipe["warmup"] = min(now - 1, max(1, now // 10))


def _check_tables(*layers: Mapping[str, Any]) -> None:
    """Refuse data that is no table, and names of test sets that dots have taken apart."""
    for layer in layers:
        data = layer.get("data", {})
        if not isinstance(data, Mapping):
            raise ConfigError(f"data: {json.dumps(data, default=str)} is not a table of settings.")
        for name, source in _table(data, "test").items():
            inside = next(
                (key for key, value in _table({name: source}, name).items() if isinstance(value, dict)), None
            )
            if inside is not None:
                raise ConfigError(
                    f'data.test.{name}.{inside}: the name of a test set has no dots; call it "{name}-{inside}".'
                )


def _check_sources(task: AnyTask, data: Mapping[str, Any], schema: type[Settings]) -> None:
    """Refuse files of another task's kind in one sentence; as settings, each would be unknown in one of its own."""
    known = set(setting_names(schema))
    for role in ("train", "valid"):
        for key, value in _table(data, role).items():
            if key in SOURCE_FLAGS and f"data.train.{key}" not in known:
                raise ConfigError(
                    f"data.{role}.{key}: {json.dumps(value)} ({SOURCE_FLAGS[key]}) is not for the task {task.name}; "
                    f"give it {task.wording.data_flags}."
                )


def _base(task: AnyTask, values: dict[str, Any], changes: Mapping[str, Any]) -> tuple[Layer | None, str]:
    """Return the layer of the preset, if any, and the family of a task's model."""
    kinds = task.files.kinds
    chosen, kind = _model(values, changes, DEFAULT_FAMILY[kinds[0]])
    check_kind(task.name, kinds, kind, chosen)
    return None if chosen is None else Layer(f"preset {chosen}", {"model": preset(chosen).settings}), kind


def _model(values: dict[str, Any], changes: Mapping[str, Any], default: str) -> tuple[str | None, str]:
    """Return the preset, if any, and the family; with another family than the recipe's, its sizes are dropped."""
    in_recipe, given = _table(values, "model"), _table(changes, "model")
    before = str(in_recipe.get("family", _family(in_recipe.get("preset"), default)))
    name = str(given.get("family", _family(given.get("preset"), before)))
    if name != before:
        values["model"] = in_recipe = {key: in_recipe[key] for key in COMMON_SETTINGS if key in in_recipe}
    chosen = given.get("preset", in_recipe.get("preset"))
    return None if chosen is None else str(chosen), name


def _family(chosen: object, default: str) -> str:
    return default if chosen is None else str(preset(str(chosen)).settings["family"])


def _replace_sources(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Let a source on the command line replace the recipe's whole; other training data drops the old test sets."""
    for role, source in new.items():
        if not isinstance(source, Mapping) or not isinstance(old.get(role), dict):
            continue
        if SOURCE_FLAGS.keys() & set(source):
            del old[role]
            if role == "train":
                old.pop("valid", None)
                old.pop("test", None)
        elif role == "test":
            _replace_sources(old[role], source)


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get(name)
    return table if isinstance(table, dict) else {}

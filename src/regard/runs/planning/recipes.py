"""Recipes: shipped ones by name, the user's own by path, and a bare task with its defaults."""

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from regard.config.overrides import nested
from regard.config.parsing import ParseError, parse_toml
from regard.config.resolve import Layer, Resolved, check_texts, resolve
from regard.config.settings import Settings, setting_names
from regard.errors import ConfigError
from regard.models.base.protocols import IN_EVERY_FAMILY
from regard.models.families import Kind, check_kind, family
from regard.models.presets import preset
from regard.tasks.contract import task
from regard.tasks.embedding_init import begin_with_vectors
from regard.tasks.init_from import FEATURE_RATE, init_layer, usual_length

FINE_TUNING: dict[str, Any] = {
    "optimizer": "adamw",
    "weight_decay": 0.01,
    "betas": [0.9, 0.999],
    "epsilon": 1e-8,
    "schedule": "linear",
    "examples_per_update": 32,
    "warmup": 0.1,
    "validate_every": 0.1,
}


def _fine_tuning(preset: str, select_by: str) -> dict[str, Any]:
    """Return the defaults of a task that puts a head on a model; how long it learns depends on the start."""
    return {"model": {"preset": preset}, "train": FINE_TUNING | {"select_by": select_by}}


TASK_DEFAULTS: dict[str, dict[str, Any]] = {
    "answer": _fine_tuning("bert-mini", "f1"),
    "choose": _fine_tuning("gpt-tiny", "accuracy"),
    "classify": _fine_tuning("gpt-tiny", "accuracy"),
    "regress": _fine_tuning("bert-mini", "spearman"),
    "tag": _fine_tuning("bert-mini", "f1"),
    "elmo": {
        "model": {"preset": "elmo-tiny"},
        "train": {"patience": 8, "betas": [0.9, 0.99], "warmup": 200, "validate_every": 250},
    },
    "language-model": {
        "model": {"preset": "gpt-tiny"},
        "train": {"patience": 8, "optimizer": "adamw", "weight_decay": 0.1, "betas": [0.9, 0.99], "warmup": 200},
    },
    "masked-language-model": {
        "model": {"preset": "bert-tiny"},
        "train": {"optimizer": "adamw", "weight_decay": 0.01, "betas": [0.9, 0.999], "schedule": "linear"},
    },
    "translate": {"model": {"preset": "transformer-small"}, "train": {"patience": 8}},
    "vectors": {"model": {"preset": "skip-gram"}},
}
"""What a task takes on top of its schema's defaults when it is named instead of a recipe."""

PLACES = {"source": "--source", "target": "--target", "path": "--data", "paths": "--text"}
"""The settings that say where text is, and the flags for them."""

USUAL_FAMILY: dict[Kind, str] = {
    "seq2seq": "transformer",
    "conditional-masked-lm": "mask-predict",
    "causal-lm": "gpt",
    "encoder": "bert",
    "word-vectors": "word-vectors",
    "bidirectional-lm": "elmo",
    "embeddings": "words",
}
"""The family of a model of which neither preset nor family is said."""


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
    found = {}
    for file in files:
        name = file.name.removesuffix(".toml")
        found[name] = Recipe(name, f"recipe {name}", tomllib.loads(file.read_text(encoding="utf-8")))
    return found


def find_recipe(name: str) -> Recipe:
    """Return the recipe a word on the command line means."""
    if name in TASK_DEFAULTS:
        return Recipe(name, f"task {name}", {"task": name} | TASK_DEFAULTS[name])
    if name.endswith(".toml"):
        return _read(Path(name))
    known = shipped()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, [*known, *TASK_DEFAULTS], n=1, cutoff=0.5)
    way_out = f"did you mean {near[0]}?" if near else f"known are {', '.join([*known, *TASK_DEFAULTS])}."
    raise ConfigError(f'There is no recipe "{name}" (a file would end in .toml); {way_out}')


def _read(path: Path) -> Recipe:
    try:
        values = parse_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such recipe file; check the path.") from None
    except (ParseError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: this is not TOML ({error}).") from None
    return Recipe(path.stem, f"recipe {path}", values)


def resolve_run(recipe: Recipe, overrides: Mapping[str, Any]) -> Resolved[Any]:
    """Return the settings of a run: defaults < preset < recipe < command line."""
    values = nested(recipe.values)
    changes = nested(overrides)
    check_texts(values)
    check_texts(changes)
    _check_tables(values, changes)
    _forget_places(_table(values, "data"), _table(changes, "data"))
    name = changes.get("task", values.get("task"))
    if name is not None and not isinstance(name, str):
        raise ConfigError(f"task: {json.dumps(name, default=str)} is not one of {', '.join(TASK_DEFAULTS)}.")
    if name is None:
        raise ConfigError(f'{recipe.origin}: it does not say its task; add task = "translate".')
    kind_of_run = task(name)
    beginning = kind_of_run.beginning
    start = init_layer(name, beginning, values, changes) if beginning else None
    base, kind = _base(name, values, changes) if start is None else (start, str(start.values["model"]["family"]))
    if not {"train"} & {*_table(values, "data"), *_table(changes, "data")}:
        raise ConfigError(
            f"{recipe.origin}: it does not say what to learn from; give {kind_of_run.places} "
            f"(data.train in a recipe)."
        )
    schema = kind_of_run.settings(family(kind).settings)
    _check_places(name, _table(changes, "data"), schema)
    table = None
    if "vectors" in schema.model_fields:
        known = base.values["model"] if base else {}
        table = begin_with_vectors(family(kind).settings.model_fields, known, values, changes)
    origins = [base, Layer(recipe.origin, values), table, Layer("the command line", changes)]
    layers = [layer for layer in origins if layer]
    if beginning and beginning.is_fine_tuning:
        is_tuned = start is not None and start.values["train"]["learning_rate"] != FEATURE_RATE
        layers.insert(0, usual_length(recipe.origin, is_tuned, values, changes))
    return resolve(schema, layers)


def _check_tables(*layers: Mapping[str, Any]) -> None:
    """Refuse data that is no table, and names of test sets that dots have taken apart."""
    for layer in layers:
        data = layer.get("data", {})
        if not isinstance(data, Mapping):
            raise ConfigError(f"data: {json.dumps(data, default=str)} is not a table of settings.")
        for name, place in _table(data, "test").items():
            inside = next(
                (key for key, value in _table({name: place}, name).items() if isinstance(value, dict)), None
            )
            if inside is not None:
                raise ConfigError(
                    f'data.test.{name}.{inside}: the name of a test set has no dots; call it "{name}-{inside}".'
                )


def _check_places(name: str, data: Mapping[str, Any], schema: type[Settings]) -> None:
    """Refuse where another task's text is said to be; as settings, each would be unknown in a sentence of its own."""
    known = set(setting_names(schema))
    for role in ("train", "valid"):
        for key, value in _table(data, role).items():
            if key in PLACES and f"data.train.{key}" not in known:
                raise ConfigError(
                    f"data.{role}.{key}: {json.dumps(value)} ({PLACES[key]}) is not for the task {name}; give it "
                    f"{task(name).places}."
                )


def _base(name: str, values: dict[str, Any], changes: Mapping[str, Any]) -> tuple[Layer | None, str]:
    """Return the layer of the preset, if any, and the family of a task's model."""
    models = task(name).models
    chosen, kind = _model(values, changes, USUAL_FAMILY[models[0]])
    check_kind(name, models, kind, chosen)
    return None if chosen is None else Layer(f"preset {chosen}", {"model": preset(chosen).settings}), kind


def _model(values: dict[str, Any], changes: Mapping[str, Any], usual: str) -> tuple[str | None, str]:
    """Return the preset, if any, and the family; another family than the recipe's leaves its sizes behind."""
    theirs, wanted = _table(values, "model"), _table(changes, "model")
    own = str(theirs.get("family", _family(theirs.get("preset"), usual)))
    kind = str(wanted.get("family", _family(wanted.get("preset"), own)))
    if kind != own:
        values["model"] = theirs = {name: theirs[name] for name in IN_EVERY_FAMILY if name in theirs}
    chosen = wanted.get("preset", theirs.get("preset"))
    return None if chosen is None else str(chosen), kind


def _family(chosen: object, otherwise: str) -> str:
    return otherwise if chosen is None else str(preset(str(chosen)).settings["family"])


def _forget_places(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Let a place that is named anew replace the old one whole; other training text has no use for the old tests."""
    for role, place in new.items():
        if not isinstance(place, Mapping) or not isinstance(old.get(role), dict):
            continue
        if PLACES.keys() & set(place):
            del old[role]
            if role == "train":
                old.pop("valid", None)
                old.pop("test", None)
        elif role == "test":
            _forget_places(old[role], place)


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get(name)
    return table if isinstance(table, dict) else {}

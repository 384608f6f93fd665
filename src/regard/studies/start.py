"""A model that has learned already, to begin with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.checkpoint import Bundle, find_checkpoint, read_bundle, read_config
from regard.config import Layer
from regard.errors import ConfigError
from regard.interop import read as read_hugging_face
from regard.studies.passport import checkpoint_hash

HUGGING_FACE = "hf:"

GPT_RATE, GPT_WIDTH = 6.25e-5, 768
"""The rate Radford et al. (2018, §4.1) fine-tune with, and the width of their model: half as wide, twice the rate."""


def read_start(start: str) -> Bundle:
    """Return the model to begin with, on the CPU."""
    if start.startswith(HUGGING_FACE):
        bundle = read_hugging_face(Path(start.removeprefix(HUGGING_FACE)))
    else:
        bundle = read_bundle(find_checkpoint(Path(start)))
    _check_task(start, bundle.task)
    return bundle


def start_hash(start: str) -> str | None:
    """Return a hash of the model to begin with; None for one of another library's."""
    return None if start.startswith(HUGGING_FACE) else checkpoint_hash(find_checkpoint(Path(start)))


def _model_of(start: str) -> dict[str, Any]:
    """Return the model settings of the model to begin with, its weights unread where that is possible."""
    if start.startswith(HUGGING_FACE):
        return read_start(start).settings.model_dump(mode="json")
    config = read_config(find_checkpoint(Path(start)))
    _check_task(start, str(config["task"]))
    return dict(config["model"])


def _check_task(start: str, task: str) -> None:
    if task != "language-model":
        raise ConfigError(
            f'start: {start} was trained for the task "{task}"; fine-tuning begins with a language model.'
        )


def begin_with(values: dict[str, Any], changes: Mapping[str, Any]) -> Layer | None:
    """Return the layer of settings that a start brings along, if there is one; what contradicts it is refused.

    A start named on the command line takes the place of a recipe's own model and tokenizer.
    """
    start = changes.get("start", values.get("start"))
    if not isinstance(start, str):
        return None
    if "start" in changes:
        values.pop("text", None)
        values["model"] = {name: value for name, value in _model(values).items() if name.endswith("dropout")}
    theirs = _model_of(start)
    for name, value in (*_model(values).items(), *_model(changes).items()):
        if name == "preset" and value != theirs.get("preset"):
            raise ConfigError(
                f'model.preset: "{value}" cannot be chosen, the model comes from {start}; leave it out.'
            )
        if name in theirs and not name.endswith("dropout") and value != theirs[name]:
            raise ConfigError(f"model.{name}: {value} contradicts {start}, where it is {theirs[name]}; leave it out.")
    rate = float(f"{GPT_RATE * GPT_WIDTH / theirs['width']:.3g}")
    return Layer(f"start {start}", {"model": theirs, "train": {"learning_rate": rate}})


def _model(values: Mapping[str, Any]) -> dict[str, Any]:
    table = values.get("model")
    return table if isinstance(table, dict) else {}

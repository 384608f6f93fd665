"""Model presets: named settings in `presets/*.toml`, one file for each family."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from regard.errors import ConfigError


@dataclass(frozen=True)
class Preset:
    """A preset: its name, its description with the source of its sizes, and its settings, the family included."""

    name: str
    about: str
    settings: dict[str, Any]


@cache
def presets() -> dict[str, Preset]:
    """Return every preset by name."""
    by_name: dict[str, Preset] = {}
    folder = resources.files("regard.models") / "presets"
    files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        family = file.name.removesuffix(".toml")
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            by_name[name] = Preset(name, entry["about"], {"family": family} | entry["settings"])
    return by_name


def preset(name: str) -> Preset:
    """Return the preset of that name."""
    available = presets()
    if name not in available:
        near = difflib.get_close_matches(name, available, n=1, cutoff=0.5)
        way_out = f"did you mean {near[0]}?" if near else f"available: {', '.join(available)}."
        raise ConfigError(f'model.preset: there is no preset "{name}"; {way_out}')
    return available[name]

"""Named settings of models: `presets/*.toml`, one file a family, each entry with its source."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from regard.errors import ConfigError


@dataclass(frozen=True)
class Preset:
    """A named model: where its sizes come from, and the settings themselves (the family among them)."""

    name: str
    about: str
    settings: dict[str, Any]


@cache
def presets() -> dict[str, Preset]:
    """Return every preset by name."""
    found: dict[str, Preset] = {}
    folder = resources.files("regard.models") / "presets"
    files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        family = file.name.removesuffix(".toml")
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            found[name] = Preset(name, entry["about"], {"family": family} | entry["settings"])
    return found


def preset(name: str) -> Preset:
    """Return the preset of that name."""
    known = presets()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        way_out = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
        raise ConfigError(f'model.preset: there is no preset "{name}"; {way_out}')
    return known[name]

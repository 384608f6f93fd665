"""Model presets: named settings in `presets/*.toml`, one file for each built-in family, and those of packages."""

import difflib
import tomllib
from dataclasses import replace
from functools import cache
from importlib import resources

from regard import registry
from regard.errors import ConfigError
from regard.models.base.family import Preset


@cache
def _shipped() -> dict[str, Preset]:
    """Return every preset of the built-in families by name."""
    by_name: dict[str, Preset] = {}
    folder = resources.files("regard.models") / "presets"
    files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        family = file.name.removesuffix(".toml")
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            by_name[name] = Preset(name, entry["about"], {"family": family} | entry["settings"])
    return by_name


def presets() -> dict[str, Preset]:
    """Return every preset by name; those of installed packages come last."""
    by_name = dict(_shipped())
    for name in registry.FAMILIES.names():
        if name not in registry.FAMILIES.built_in:
            for each in registry.FAMILIES.find(name).presets:
                by_name[each.name] = replace(each, settings={"family": name} | each.settings)
    return by_name


def preset(name: str) -> Preset:
    """Return the preset of that name."""
    if name in _shipped():
        return _shipped()[name]
    available = presets()
    if name not in available:
        near = difflib.get_close_matches(name, available, n=1, cutoff=0.5)
        way_out = f"did you mean {near[0]}?" if near else f"available: {', '.join(available)}."
        raise ConfigError(f'model.preset: there is no preset "{name}"; {way_out}')
    return available[name]

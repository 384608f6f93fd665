"""Settings machinery: strict frozen schemas, layered values, and the source of every value."""

from regard.config.overrides import nested, parse_overrides
from regard.config.resolve import Layer, Resolved, resolve
from regard.config.settings import Settings, flatten, setting_names

__all__ = [
    "Layer",
    "Resolved",
    "Settings",
    "flatten",
    "nested",
    "parse_overrides",
    "resolve",
    "setting_names",
]

"""Command-line overrides: `key=value` words, parsed as TOML values."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from regard.config.parsing import ParseError, parse_number, parse_toml
from regard.errors import ConfigError


def parse_value(text: str) -> Any:
    """Return the TOML value of `text`; a bare word is a string."""
    if text in ("True", "False"):  # Python's spelling
        return text == "True"
    if re.fullmatch(r"[0-9]+e[0-9]+", text):  # 1e3 steps are 1000 steps
        number = parse_number(text)
        return text if number is None else int(number)
    if re.fullmatch(r"[+-]?\.[0-9]+", text):
        return parse_number(text)
    try:
        value = parse_toml(f"value = {text}")
    except ParseError:
        return text
    # A text with a line break could add a second key; TOML dates are kept as strings.
    if set(value) != {"value"} or not isinstance(value["value"], (bool, int, float, str, list, dict)):
        return text
    return value["value"]


def split_list(text: str | None) -> list[str]:
    """Return the words of a list with commas: "a, b" gives two."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def parse_overrides(words: Iterable[str]) -> dict[str, Any]:
    """Turn `["train.steps=100"]` into nested tables."""
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f'"{word}" is not a setting: write it as key=value, for example train.steps=1000.')
        pairs[name.strip()] = parse_value(value.strip())
    return nested(pairs)


def nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    """Turn `{"train.steps": 100}` into `{"train": {"steps": 100}}`; nested tables may be mixed in."""
    tree: dict[str, Any] = {}
    for name, value in dotted.items():
        *groups, last = name.split(".")
        table = tree
        for group in groups:
            table = table.setdefault(group, {})
            if not isinstance(table, dict):
                raise ConfigError(f"{name}: {group} already has a value, so nothing can be set inside it.")
        if isinstance(value, Mapping):
            inner = table.setdefault(last, {})
            if isinstance(inner, dict):
                merge_into(inner, nested(value))
                continue
            value = nested(value)
        table[last] = value
    return tree


def merge_into(table: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Merge values into nested tables, in place."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = table.get(key)
            table[key] = dict(inner) if isinstance(inner, dict) else {}
            merge_into(table[key], value)
        else:
            table[key] = value

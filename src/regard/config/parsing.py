"""Parsers of JSON, TOML and numbers: any text gives a value or a `ParseError`, never a crash."""

import json
import math
import re
import tomllib
from typing import Any

DEEPEST = 100
"""Maximum nesting depth: deeper values overflow the stack of recursive code."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


class ParseError(ValueError):
    """Text that cannot be parsed: a short reason, and its line if available."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason, self.line = reason, line


def parse_json(text: str, *, keys_once: bool = False) -> Any:
    """Return the value of JSON text; `keys_once` refuses duplicate keys in an object."""
    try:
        value = json.loads(text, object_pairs_hook=_once if keys_once else None)
    except ParseError:
        raise
    except json.JSONDecodeError as error:
        raise ParseError(error.msg, error.lineno) from None
    except RecursionError:
        raise ParseError(f"nested more than {DEEPEST} levels deep") from None
    except ValueError:  # Python refuses integers of thousands of digits
        raise ParseError("an integer with too many digits") from None
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(value)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ParseError(f"the key {json.dumps(twice)[:60]} comes twice in one object")
    return values


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of TOML text."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParseError(str(error)) from None
    except RecursionError:
        raise ParseError(f"nested more than {DEEPEST} levels deep") from None
    except ValueError:
        raise ParseError("a number or a date that is out of range") from None
    _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise ParseError(f"nested more than {DEEPEST} levels deep")


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def parse_number(text: str) -> float | None:
    """Return a finite number in plain ASCII digits; None for anything else (nan, inf, ², 1_000)."""
    text = text.strip()
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_integer(text: str) -> int | None:
    """Return an integer of at most 18 ASCII digits; None for anything else."""
    text = text.strip()
    return int(text) if INTEGER.fullmatch(text) else None

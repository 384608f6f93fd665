"""The training budget of each member of a race: a duration, or a number of steps, epochs or training tokens."""

import re
from dataclasses import dataclass
from typing import Literal

from regard.errors import ConfigError

Kind = Literal["seconds", "steps", "epochs", "tokens"]

SECONDS = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
COUNTS: dict[str, Kind] = {"step": "steps", "update": "steps", "epoch": "epochs", "token": "tokens"}
SCALES = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
NUMBER = r"(\d[\d,_]*(?:\.\d+)?|\.\d+)"
TIME = re.compile(rf"{NUMBER}\s*([a-z]+)")
COUNT = re.compile(rf"{NUMBER}\s*([kKM]?)\s*([a-z]+)")
EXAMPLES = "10m, 1h30m, 2000 steps, 5 epochs or 3M tokens"


@dataclass(frozen=True)
class Budget:
    """A number of seconds of training, steps, epochs or training tokens."""

    kind: Kind
    amount: float

    def __str__(self) -> str:
        if self.kind != "seconds":
            return f"{self.amount:,g} {self.kind}" if self.amount < 1e6 else f"{self.amount:,.0f} {self.kind}"
        hours, rest = divmod(self.amount, 3600)
        minutes, seconds = divmod(rest, 60)
        parts = [(hours, "h"), (minutes, "m"), (seconds, "s")]
        return "".join(f"{value:g}{unit}" for value, unit in parts if value)


def parse_budget(text: str) -> Budget:
    """Parse a budget: `90s`, `10m`, `1h30m`, `2000 steps`, `2.5 epochs`, `3M tokens`."""
    words = text.strip()
    budget = _duration(words) or _count(words)
    if budget is None:
        raise ConfigError(f'--budget: "{text}" is neither a duration nor a count; write it like {EXAMPLES}.')
    if budget.amount <= 0 or (budget.kind == "steps" and budget.amount < 1):
        raise ConfigError(f'--budget: "{text}" leaves nothing to train; increase it.')
    return budget


def _duration(words: str) -> Budget | None:
    parts = TIME.findall(words)
    if not parts or TIME.sub("", words).strip():
        return None
    units = [_singular(unit) for _, unit in parts]
    if not all(unit in SECONDS for unit in units):
        return None
    return Budget("seconds", sum(_number(value) * SECONDS[unit] for (value, _), unit in zip(parts, units)))


def _count(words: str) -> Budget | None:
    match = COUNT.fullmatch(words)
    if match is None or _singular(match[3]) not in COUNTS:
        return None
    return Budget(COUNTS[_singular(match[3])], _number(match[1]) * SCALES[match[2]])


def _number(text: str) -> float:
    return float(re.sub("[,_]", "", text))


def _singular(unit: str) -> str:
    return unit.removesuffix("s") if len(unit) > 2 else unit  # ms is no plural of m

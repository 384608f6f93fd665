"""The candidates of a tuning: the plan, each doubtful value changed, and the changes that helped together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.config.resolve import Resolved
from regard.errors import ConfigError
from regard.tasks.contract import AnyTask

PLAIN, COMBINED = "plan", "combined"
"""Names of the plan without a change, and of all changes together that helped."""
MOST = 3
"""The most values that are doubted."""


@dataclass(frozen=True)
class Candidate:
    """One trial: the settings that differ from the plan's; its name is a valid folder name."""

    name: str
    changes: Mapping[str, object]


def candidates(task: AnyTask, resolved: Resolved[Any], fixed: frozenset[str]) -> list[Candidate]:
    """Return the plan, and a candidate for each other value of its most doubtful settings; `fixed` ones are kept."""
    chosen = [Candidate(PLAIN, {})]
    doubted = 0
    for doubt in task.doubts:
        values = [] if doubt.setting in fixed else doubt.candidates(resolved.settings)
        doubted += bool(values)
        if doubted <= MOST:
            chosen += [Candidate(named({doubt.setting: value}), {doubt.setting: value}) for value in values]
    if len(chosen) == 1:
        names = ", ".join(each.setting for each in task.doubts)
        raise ConfigError(
            f"Nothing is left to tune: the doubtful settings of {task.wording.plural} ({names}) are all set, or the "
            f"model has none of them; leave one of them out."
        )
    return chosen


def combined(better: Sequence[Candidate]) -> Candidate | None:
    """Return the best change of each setting together, given candidates in order of score; None: fewer than two."""
    changes: dict[str, object] = {}
    for each in better:
        changes = {**each.changes, **changes}
    return Candidate(COMBINED, changes) if len(changes) > 1 else None


def named(changes: Mapping[str, object]) -> str:
    """Return a folder name for changed settings: learning_rate-0.002."""
    words = "-".join(f"{setting.rpartition('.')[2]}-{value}" for setting, value in changes.items())
    return re.sub(r"[^\w.+-]+", "-", words)

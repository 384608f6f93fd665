"""The table of tasks: what each one binds together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.checkpoint import Bundle
from regard.config import Settings
from regard.data.pairs import Pair
from regard.errors import ConfigError
from regard.models import Kind, ModelSettings
from regard.progress import Progress
from regard.studies.prepared import Prepared
from regard.studies.settings import TranslateSettings
from regard.studies.translation import prepare_translation
from regard.training import Machine

Prepare = Callable[[Any, Machine, Progress, Bundle | None, Sequence[Pair] | None], Prepared]
"""From settings (and a resumed model, or pairs from memory) to what the loop needs."""


@dataclass(frozen=True)
class Task:
    """A kind of run: its settings for a model of some family, how it reads its data, and which models it is for."""

    settings: Callable[[type[ModelSettings]], type[Settings]]
    prepare: Prepare
    models: Kind


TASKS = {
    "translate": Task(
        lambda model: TranslateSettings[model],  # type: ignore[valid-type]
        prepare_translation,
        "sequence-to-sequence",
    ),
}


def task(name: str) -> Task:
    """Return the task of that name."""
    if name not in TASKS:
        raise ConfigError(f'task: "{name}" is not one of {", ".join(TASKS)}.')
    return TASKS[name]

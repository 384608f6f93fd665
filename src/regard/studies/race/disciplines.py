"""What a race is run in: translating, or going on with text. All that differs between the two is named here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from regard.checkpoint.bundle import Bundle
from regard.data.sources.pair import Pair
from regard.errors import ConfigError
from regard.progress import Progress
from regard.runs.store.folder import Run
from regard.studies.doctor.trial import TrialSetup
from regard.studies.race import translating
from regard.studies.race.figures import loss_by_position as texts
from regard.tasks.data import Prepared
from regard.training.device.machine import Machine


class Shared(Protocol):
    """The data of a race, read and encoded once, with one tokenizer, for all its members."""

    @property
    def held_out(self) -> Any:
        """The set that members are measured on."""

    @property
    def tokens(self) -> int:
        """How many tokens an epoch learns from."""

    def prepare(
        self,
        settings: Any,
        machine: Machine,
        progress: Progress = ...,
        resumed: Bundle | None = None,
        given: Sequence[Pair] | None = None,
    ) -> Prepared:
        """Make a member ready, as the task would have done for a run of its own."""

    def bench(self, settings: Any) -> TrialSetup:
        """Return all it takes to try a member out."""


@dataclass(frozen=True)
class Column:
    """A figure of every member in the tables; the first one decides their order."""

    title: str
    key: str
    form: str
    best: Literal["most", "least"]


@dataclass(frozen=True)
class Discipline:
    """What is particular about the races of one task."""

    columns: tuple[Column, ...]
    watched: tuple[str, str]
    """What the figure is called that is watched while members learn, and its name in a run's metrics."""
    limit: Callable[[Sequence[Any]], dict[str, int]]
    """From the settings of all members, the settings that make them learn from the same sequences."""
    shared: Callable[[Any, Progress], Shared]
    measure: Callable[[Run, Any, str], dict[str, Any]]
    """What only a look into a member's model can tell, on what is held out."""
    facts: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    """What is to be told about the race, from a member's record and from what was measured on it."""
    figures: Callable[[dict[str, Any], list[dict[str, Any]], dict[str, Any]], dict[str, Any]]
    """A member's own figures, from its record, its metrics and what was measured."""


DISCIPLINES = {
    "language-model": Discipline(
        (
            Column("word perplexity", "word_perplexity", ".2f", "least"),
            Column("bits/byte", "bits_per_byte", ".4f", "least"),
            Column("perplexity", "perplexity", ".2f", "least"),
            Column("loss", "loss", ".3f", "least"),
        ),
        ("perplexity", "valid_perplexity"),
        texts.common_window,
        texts.SharedText,
        texts.measure_text,
        texts.facts,
        texts.figures,
    ),
    "translate": Discipline(
        (Column("BLEU", "bleu", ".2f", "most"), Column("loss", "loss", ".3f", "least")),
        ("BLEU", "valid_bleu"),
        translating.common_length,
        translating.SharedData,
        translating.measure_translator,
        translating.facts,
        translating.figures,
    ),
}
"""By task."""


def discipline(task: str) -> Discipline:
    """Return the discipline of a task."""
    if task not in DISCIPLINES:
        raise ConfigError(f'regard race is for the tasks {" and ".join(DISCIPLINES)}; this run\'s is "{task}".')
    return DISCIPLINES[task]


def ranked(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members of a race, the best one first."""
    first = results["columns"][0]
    sign = -1 if first["best"] == "most" else 1
    return sorted(results["members"], key=lambda each: sign * each[first["key"]])

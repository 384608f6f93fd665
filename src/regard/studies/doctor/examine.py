"""The whole examination of a run before it begins."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.errors import ConfigError
from regard.progress import SILENT, Bar, Progress
from regard.runs.planning.recipes import Recipe, find_recipe, resolve_run
from regard.runs.preflight import CHECKS, run_checks
from regard.studies.doctor.lr_finder import rate_findings
from regard.studies.doctor.machine import memory_findings
from regard.studies.doctor.speed import speed_findings
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import task
from regard.tasks.findings import Finding, Report
from regard.tasks.language_model.prepare import text_material
from regard.tasks.translate.data import Plain
from regard.tasks.translate.prepare import load_data, prepare_pairs
from regard.tasks.word_vectors.checks import word_findings
from regard.training.device.machine import Machine, prepare_machine

TRIALS: tuple[Callable[[TrialSetup, Progress], list[Finding]], ...] = (memory_findings, speed_findings)
"""What is tried out on the machine, on copies of the model."""


class Listener(Progress):
    """Hands everything on but warnings, which become findings."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.findings: list[Finding] = []

    def say(self, message: str) -> None:
        """Hand a message on."""
        self.progress.say(message)

    def warn(self, message: str) -> None:
        """Keep what is odd."""
        self.findings.append(Finding("examples", "odd", "warning", message))

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Hand a bar on."""
        with self.progress.bar(title, total, done) as bar:
            yield bar


def make_bench(settings: Any, machine: Machine, progress: Progress = SILENT) -> TrialSetup:
    """Return all it takes to look a run over and to try it out, of whatever task."""
    if settings.task == "translate":
        material = load_data(settings, machine, progress)
        return TrialSetup(material, prepare_pairs(material, machine), machine)
    is_looked_over = settings.task in CHECKS  # and then need not look for itself
    own = settings.model_copy(update={"preflight": settings.preflight and not is_looked_over})
    prepared = task(settings.task).prepare(own, machine, progress, None, None)
    return TrialSetup(text_material(settings, prepared) if is_looked_over else Plain(settings), prepared, machine)


def doctor(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    lr_finder: bool = False,
    is_quick: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """Look a run over before it begins and return what was found; nothing is written and nothing learned.

    `recipe` and `overrides` are those of `train`. `lr_finder` adds a learning-rate range test; `is_quick` leaves out
    everything that learns from batches.
    """
    if isinstance(recipe, Mapping):
        found = Recipe(str(recipe.get("task", "run")), "the call", recipe)
    else:
        found = find_recipe(str(recipe))
    settings = resolve_run(found, overrides or {}).settings
    if settings.task == "vectors":
        return _look_at_words(settings, lr_finder, progress)
    machine = prepare_machine(settings.machine)
    heard = Listener(progress)
    bench = make_bench(settings, machine, heard)
    looked = [] if isinstance(bench.material, Plain) else run_checks(bench.material, is_quick, progress)
    findings = heard.findings + looked
    for trial in () if is_quick else TRIALS:
        findings += trial(bench, progress)
    if lr_finder:
        findings += rate_findings(bench, progress)
    return Report(tuple(findings))


def _look_at_words(settings: Any, lr_finder: bool, progress: Progress) -> Report:
    """Look at text for word vectors: their loop has no micro-batches, so nothing is tried out."""
    if lr_finder:
        raise ConfigError(
            "--lr-finder: word vectors learn at the rate of word2vec, which is not swept; leave it out, or give "
            "train.learning_rate."
        )
    prepared = task("vectors").prepare(settings, prepare_machine(settings.machine), progress, None, None)
    return Report(tuple(word_findings(settings, prepared.facts)))

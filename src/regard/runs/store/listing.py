"""The runs in a folder: listed with their scores, and one of them deleted safely."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from regard.errors import RunError
from regard.progress import age_words, size_words
from regard.runs.store.folder import RunFolder
from regard.runs.store.process import is_alive
from regard.tasks.contract import find_task
from regard.tasks.record import RECORD, RunRecord
from regard.training.reports.metrics_log import METRICS, read_metrics

UNDER_WAY = ("preparing", "running")
"""States that only a living process can be in."""


@dataclass(frozen=True)
class BestScore:
    """The score a run is known by."""

    metric: str
    value: float
    set: str


@dataclass(frozen=True)
class RunSummary:
    """One line in the list of runs."""

    path: Path
    state: str
    task: str | None = None
    preset: str | None = None
    score: BestScore | None = None
    parameters: int | None = None
    steps: int | None = None
    bytes: int = 0
    started: str | None = None
    age_seconds: float | None = None
    reason: str | None = None
    """Why it cannot be read."""

    def cells(self) -> tuple[str, ...]:
        """Return its row of a table: path, task, preset, score, parameters, size, age, state."""
        return (
            str(self.path),
            self.task or "",
            self.preset or "",
            f"{self.score.metric} {self.score.value:.2f} on {self.score.set}" if self.score else "",
            f"{self.parameters:,}" if self.parameters is not None else "",
            size_words(self.bytes),
            age_words(self.age_seconds) if self.age_seconds is not None else "",
            self.state,
        )


def list_runs(folder: str | Path = "runs", has_sizes: bool = True) -> list[RunSummary]:
    """Return the runs in a folder, also nested ones, the newest first; links are not followed.

    Without sizes (0 bytes each) their checkpoints are not walked through.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"{folder}: there is no such folder; train something first, or name the folder of your runs.")
    summaries = [summarize(RunFolder(path), has_sizes) for path in _find(folder)]
    return sorted(summaries, key=lambda summary: (summary.started or "", str(summary.path)), reverse=True)


def _find(folder: Path) -> Iterator[Path]:
    """Yield the folders that hold a run, without searching inside one."""
    for path, names, files in os.walk(folder):
        if RECORD in files:
            names.clear()
            yield Path(path)
        names[:] = [name for name in names if not name.startswith(".")]


def summarize(run: RunFolder, has_size: bool = True) -> RunSummary:
    """Return the summary of a run."""
    size = sum(path.lstat().st_size for path in _entries(run.path)) if has_size else 0
    try:
        record = run.record
    except RunError as error:
        return RunSummary(run.path, "unreadable", bytes=size, reason=str(error))
    started = record.started
    age = (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds() if started else None
    return RunSummary(
        path=run.path,
        state=state_of(record),
        task=record.task,
        preset=record.settings.model.preset,
        score=_best_score(run, record),
        parameters=record.parameters,
        steps=record.steps,
        bytes=size,
        started=started,
        age_seconds=None if age is None else round(age),
    )


def state_of(record: RunRecord) -> str:
    """Return a run's state; one that its record calls running may have been killed."""
    if record.state not in UNDER_WAY:
        return record.state
    process = record.process
    alive = is_alive(process)
    if alive is None:
        return f"{record.state} on {process.host}" if process.host else f"{record.state}, or killed"
    return record.state if alive else "stopped (killed)"


def _entries(folder: Path) -> Iterator[Path]:
    """Yield every file in a folder, at any depth; links count as files."""
    for path, names, files in os.walk(folder):
        yield from (Path(path) / name for name in files)
        yield from (Path(path) / name for name in names if (Path(path) / name).is_symlink())


def _best_score(run: RunFolder, record: RunRecord) -> BestScore | None:
    """Return the first score on the first test set; before there is one, the best of validation."""
    task = find_task(record.task)
    for name, scores in record.scores.items():
        score = scores["scores"][0]
        if (value := score["value"]) is not None:
            return BestScore(score["name"], round(value, 2 if abs(value) > 1 else 4), name)
    validations = [line for line in read_metrics(run.path / METRICS) if "valid_loss" in line]
    if not validations:
        return None
    recorded = (each for each in task.metrics if each.is_validated and f"valid_{each.key}" in validations[0])
    metric = next(recorded, None)
    key = f"valid_{metric.key}" if metric else ""
    values = [line[key] for line in validations if key in line]
    if metric and values:
        digits = int(metric.format.strip(".f") or 4)
        return BestScore(metric.label, round((max if metric.best == "max" else min)(values), digits), "valid")
    return BestScore("loss", round(min(line["valid_loss"] for line in validations), 4), "valid")


def check_deletable(run: RunFolder, force: bool = False) -> None:
    """Refuse to delete what is no run, holds other runs, or is being trained."""
    path = run.path
    if path.is_symlink():
        raise RunError(f"{path}: this is a link to {path.readlink()}; name the run itself, or remove the link.")
    record = run.record
    if Path.cwd().is_relative_to(path.resolve()):
        raise RunError(f"{path}: you are inside this folder; go elsewhere first.")
    nested = next((inner for inner, _, files in os.walk(path) if RECORD in files and Path(inner) != path), None)
    if nested is not None:
        raise RunError(f"{path}: there is another run inside ({nested}); move or delete that one first.")
    state = state_of(record)
    if state in UNDER_WAY:
        raise RunError(
            f"{path}: it is being trained right now (process {record.process.pid}); stop it with Ctrl-C first."
        )
    if state.startswith(UNDER_WAY) and not force:
        raise RunError(f"{path}: {state}, which cannot be checked from here; if it is dead, delete it with --force.")


def delete_run(path: str | Path, force: bool = False) -> RunSummary:
    """Delete a run's folder and nothing else, and return what it was; links inside are removed, not followed."""
    run = RunFolder(Path(path))
    check_deletable(run, force)
    summary = summarize(run)
    for entry in run.path.iterdir():
        if entry.name == RECORD:
            continue  # the last to go: a deletion that was cut short can be repeated
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    (run.path / RECORD).unlink()
    run.path.rmdir()
    return summary

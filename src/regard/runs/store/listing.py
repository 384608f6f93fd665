"""What was trained: a list of the runs in a folder, and one of them deleted safely."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.errors import RunError
from regard.runs.store.folder import RECORD, Run
from regard.runs.store.process import is_alive
from regard.training.metrics_log import METRICS, read_metrics

UNDER_WAY = ("preparing", "running")
"""States that only a living process can be in."""


@dataclass(frozen=True)
class BestScore:
    """The figure a run is known by."""

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


def list_runs(folder: str | Path = "runs") -> list[RunSummary]:
    """Return the runs in a folder, also nested ones, the newest first; links are not followed."""
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"{folder}: there is no such folder; train something first, or name the folder of your runs.")
    found = [summarize(Run(path)) for path in _find(folder)]
    return sorted(found, key=lambda summary: (summary.started or "", str(summary.path)), reverse=True)


def _find(folder: Path) -> Iterator[Path]:
    """Yield the folders that hold a run; inside one nobody looks for another."""
    for place, names, files in os.walk(folder):
        if RECORD in files:
            names.clear()
            yield Path(place)
        names[:] = [name for name in names if not name.startswith(".")]


def summarize(run: Run) -> RunSummary:
    """Return what is worth knowing about a run at a glance."""
    size = sum(path.lstat().st_size for path in _entries(run.path))
    try:
        record = run.record
    except RunError as error:
        return RunSummary(run.path, "unreadable", bytes=size, reason=str(error))
    started = record.get("started")
    age = (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds() if started else None
    return RunSummary(
        path=run.path,
        state=state_of(record),
        task=record.get("task"),
        preset=record["settings"]["model"].get("preset"),
        score=_best_score(run, record),
        parameters=record.get("parameters"),
        steps=record.get("steps"),
        bytes=size,
        started=started,
        age_seconds=None if age is None else round(age),
    )


def state_of(record: dict[str, Any]) -> str:
    """Return a run's state; one that says it is running may have been killed."""
    state = str(record.get("state", "unknown"))
    if state not in UNDER_WAY:
        return state
    process = record.get("process", {})
    alive = is_alive(process)
    if alive is None:
        return f"{state} on {process['host']}" if process.get("host") else f"{state}, or killed"
    return state if alive else "stopped (killed)"


def _entries(folder: Path) -> Iterator[Path]:
    """Yield every file in a folder, at any depth; links are files here."""
    for place, names, files in os.walk(folder):
        yield from (Path(place) / name for name in files)
        yield from (Path(place) / name for name in names if (Path(place) / name).is_symlink())


def _best_score(run: Run, record: dict[str, Any]) -> BestScore | None:
    """Return the first score on the first test set; before there is one, the best of validation."""
    scores = record.get("scores") or {}
    if record.get("task") == "vectors":
        return _vector_score(scores)
    for name, found in scores.items():
        score = found["scores"][0]
        return BestScore(score["name"], round(score["value"], 2), name)
    validations = [line for line in read_metrics(run.path / METRICS) if "valid_loss" in line]
    if not validations:
        return None
    if any("valid_bleu" in line for line in validations):
        return BestScore("BLEU", round(max(line.get("valid_bleu", 0.0) for line in validations), 2), "valid")
    return BestScore("loss", round(min(line["valid_loss"] for line in validations), 4), "valid")


def _vector_score(scores: dict[str, Any]) -> BestScore | None:
    if "analogies" in scores and scores["analogies"]["total"]["accuracy"] is not None:
        return BestScore("accuracy", round(scores["analogies"]["total"]["accuracy"], 4), "analogies")
    rated = [each for each in scores.get("similarities") or [] if each["spearman"] is not None]
    return BestScore("Spearman", round(rated[0]["spearman"], 4), Path(rated[0]["path"]).name) if rated else None


def check_deletable(run: Run, force: bool = False) -> None:
    """Refuse to delete what is no run, holds other runs, or is being trained."""
    path = run.path
    if path.is_symlink():
        raise RunError(f"{path}: this is a link to {path.readlink()}; name the run itself, or remove the link.")
    record = run.record
    if Path.cwd().is_relative_to(path.resolve()):
        raise RunError(f"{path}: you are inside this folder; go elsewhere first.")
    nested = next((place for place, _, files in os.walk(path) if RECORD in files and Path(place) != path), None)
    if nested is not None:
        raise RunError(f"{path}: there is another run inside ({nested}); move or delete that one first.")
    state = state_of(record)
    if state in UNDER_WAY:
        pid = record["process"]["pid"]
        raise RunError(f"{path}: it is being trained right now (process {pid}); stop it with Ctrl-C first.")
    if state.startswith(UNDER_WAY) and not force:
        raise RunError(f"{path}: {state}, which cannot be checked from here; if it is dead, delete it with --force.")


def delete_run(path: str | Path, force: bool = False) -> RunSummary:
    """Delete a run's folder and nothing else, and return what it was; links inside are removed, not followed."""
    run = Run(Path(path))
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

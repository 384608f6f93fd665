"""Training: from a recipe, or from rows in memory, to a run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.data.sources.lines import lines_hash
from regard.errors import ConfigError, DataError
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, chosen_recipe, resolve_run
from regard.runs.run import Run
from regard.runs.store.folder import DATA, RunFolder, claim, missing_folders, removed_if_empty
from regard.tasks.contract import find_task
from regard.tasks.record import RECORD
from regard.training.parallel.process_group import is_main_process


def train(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    data: Iterable[Any] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
) -> Run:
    """Train a model and return its run.

    `recipe` is a shipped recipe's name, a task's name, the path of a TOML file, or nested settings; `overrides` are
    settings by dotted name. `data` are training rows from memory, such as (source, target) pairs for `translate`:
    they are written to the run's folder first, so that the run can be resumed. `progress`: None shows bars in a
    terminal or notebook, False nothing. A signal stops the run, saved, with KeyboardInterrupt or RunInterrupted.
    """
    chosen = chosen_recipe(recipe)
    shown = as_progress(progress)
    path = Path(out) if out is not None else Path("runs") / chosen.name
    lines = None if data is None else _lines(str(chosen.values.get("task")), data)
    file = None if lines is None else path / DATA / f"train-{lines_hash(lines)[:8]}.jsonl"
    if file is not None:
        chosen = Recipe(chosen.name, chosen.origin, {**chosen.values, "data": {"train": {"path": str(file)}}})
    resolved = resolve_run(chosen, overrides or {})
    run = Run(claim(path, overwrite).path) if is_main_process() else Run(path)
    spec = RunSpec(resolved, "replace" if run.exists else "new")
    with removed_if_empty(missing_folders(path)):
        if file is None or lines is None or not is_main_process():
            return execute(run, spec, shown)
        with _written(lines, file, run):
            return execute(run, spec, shown)


@contextmanager
def _written(lines: list[str], file: Path, run: RunFolder) -> Iterator[None]:
    """Write rows to a file, which is removed again if the run fails before its record names it."""
    is_new, made = not file.exists(), missing_folders(file.parent)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, "".join(line + "\n" for line in lines))
    try:
        yield
    except BaseException:
        if is_new and not (run.exists and file.name in (run.path / RECORD).read_text(encoding="utf-8")):
            with suppress(OSError):  # a folder that holds something else stays
                file.unlink(missing_ok=True)
                for folder in made:
                    folder.rmdir()
        raise


def _lines(name: str, data: Iterable[Any]) -> list[str]:
    """Return rows from memory as lines of JSON."""
    task = find_task(name)
    if not task.row_fields:
        raise ConfigError(f"data: the task {name} reads files ({task.wording.data_flags}); name them instead.")
    lines = [json.dumps(_row(row, number, task.row_fields), ensure_ascii=False) for number, row in enumerate(data, 1)]
    if not lines:
        raise DataError("data: there are no rows to train on; give at least a few hundred.")
    return lines


def _row(row: Any, number: int, fields: tuple[str, ...]) -> dict[str, str]:
    """Return a row by field."""
    values = [row.get(name) for name in fields] if isinstance(row, Mapping) else row
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != len(fields):
        raise DataError(f"data: row {number} is not ({', '.join(fields)}); give that many texts.")
    for name, value in zip(fields, values, strict=True):
        if not isinstance(value, str):
            raise DataError(f"data: the {name} of row {number} is not text; give a string.")
    return dict(zip(fields, values, strict=True))

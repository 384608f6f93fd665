"""From a recipe to a run."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.data.sources.lines import lines_hash
from regard.errors import ConfigError, DataError
from regard.progress import SILENT, Progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, find_recipe, resolve_run
from regard.runs.run import Run
from regard.runs.store.folder import DATA, claim, missing_folders, removed_if_empty
from regard.tasks.contract import find_task
from regard.training.parallel.process_group import is_main_process


def train(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    data: Iterable[Any] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Run:
    """Train a model and return its run.

    `recipe` is a shipped recipe's name, a task's name, the path of a TOML file, or nested settings; `overrides` are
    settings by dotted name. `data` are training rows from memory, such as (source, target) pairs for `translate`:
    they are written to the run's folder first, so that the run can be resumed.
    """
    if isinstance(recipe, (str, Path)):
        chosen = find_recipe(str(recipe))
    else:
        chosen = Recipe(str(recipe.get("task", "run")), "the call", recipe)
    path = Path(out) if out is not None else Path("runs") / chosen.name
    lines = None if data is None else _lines(str(chosen.values.get("task")), data)
    if lines is not None:
        file = path / DATA / f"train-{lines_hash(lines)[:8]}.jsonl"
        chosen = Recipe(chosen.name, chosen.origin, {**chosen.values, "data": {"train": {"path": str(file)}}})
    resolved = resolve_run(chosen, overrides or {})
    run = Run(claim(path, overwrite).path) if is_main_process() else Run(path)
    with removed_if_empty(missing_folders(path)):
        if lines is not None and is_main_process():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, "".join(line + "\n" for line in lines))
        return execute(run, RunSpec(resolved, "replace" if run.exists else "new"), progress)


def _lines(name: str, data: Iterable[Any]) -> list[str]:
    """Return rows from memory as lines of JSON."""
    fields = find_task(name).row_fields
    if not fields:
        raise ConfigError(
            f"data: the task {name} reads files ({find_task(name).wording.data_flags}); name them instead."
        )
    rows = [row if isinstance(row, Mapping) else dict(zip(fields, row, strict=True)) for row in data]
    if not rows:
        raise DataError("data: there are no rows to train on; give at least a few hundred.")
    return [json.dumps(row, ensure_ascii=False) for row in rows]

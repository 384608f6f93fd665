"""Training: from a recipe, or from rows in memory, to a run."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.data.sources.lines import lines_hash
from regard.data.sources.memory import memory_lines
from regard.errors import DataError
from regard.processes import is_main_process, is_restarted
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, chosen_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.store.folder import DATA, RunFolder, claim, missing_folders, removed_if_empty
from regard.runs.store.process import is_of_this_launch
from regard.tasks.contract import find_task
from regard.tasks.record import RECORD


def train(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    data: object = None,
    valid: object = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    began: float | None = None,
) -> Run:
    """Train a model and return its run.

    `recipe` is a shipped recipe's name, a task's name, the path of a TOML file, or nested settings; `overrides` are
    settings by dotted name. `data` are training rows from memory, `valid` validation rows: a list of tuples, dicts or
    texts, a data frame, or a data set of `datasets`; they are written to the run's folder first of all, and are files
    from then on. `progress`: None shows bars in a terminal or notebook, False nothing. A signal stops the run,
    saved, with KeyboardInterrupt or RunInterrupted. `began`: the time.monotonic() from which a time limit counts
    (default: now).
    """
    began = time.monotonic() if began is None else began
    chosen, shown = chosen_recipe(recipe), as_progress(progress)
    path = Path(out) if out is not None else Path("runs") / chosen.name
    if is_restarted() and Run(path).exists and is_of_this_launch(Run(path).record.process):
        if is_main_process():
            shown.warn(f"{path}: torchrun has started all processes again, after one of them ended.")
        return resume(path, progress=shown)
    files: dict[Path, list[str]] = {}
    for role, rows in (("train", data), ("valid", valid)):
        if rows is not None:
            task = find_task(str(chosen.values.get("task")))
            lines = memory_lines(rows, task.rows, "data" if role == "train" else role)
            file = path / DATA / f"{role}-{lines_hash(lines)[:8]}.jsonl"
            files[file] = lines
            chosen = _pointed(chosen, role, task.file_source(str(file), lines))
    resolved = resolve_run(chosen, overrides or {}, next(iter(files.values()), ()) if data is not None else ())
    run = Run(claim(path, overwrite).path) if is_main_process() else Run(path)
    spec = RunSpec(resolved, "replace" if run.exists else "new", began=began)
    with removed_if_empty(missing_folders(path)), _written(files if is_main_process() else {}, run):
        return execute(run, spec, shown)


def _pointed(recipe: Recipe, role: str, source: Mapping[str, Any]) -> Recipe:
    """Return a recipe with another source; other training data drops its validation and test sets."""
    before = recipe.values.get("data")
    data = dict(before) if isinstance(before, Mapping) else {}
    if role == "train":
        data = {name: value for name, value in data.items() if name not in ("valid", "test")}
    return Recipe(recipe.name, recipe.origin, {**recipe.values, "data": {**data, role: source}})


@contextmanager
def _written(files: Mapping[Path, list[str]], run: RunFolder) -> Iterator[None]:
    """Write rows to files, which are removed again if the run fails before its record names them."""
    new, made = [file for file in files if not file.exists()], missing_folders(run.path / DATA) if files else ()
    for file, lines in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, "".join(line + "\n" for line in lines))
    try:
        yield
    except BaseException as error:
        record = (run.path / RECORD).read_text(encoding="utf-8") if run.exists else ""
        with suppress(OSError):  # a folder that holds something else stays
            gone = [file for file in new if file.name not in record]
            for file in gone:
                file.unlink(missing_ok=True)
            for folder in made if gone else ():
                folder.rmdir()
        if isinstance(error, DataError):
            raise DataError(_in_memory(str(error), files)) from None
        raise


def _in_memory(sentence: str, files: Mapping[Path, list[str]]) -> str:
    """Return a sentence about rows from memory, which names their argument in place of the file."""
    for file in files:
        sentence = sentence.replace(str(file), "valid" if file.name.startswith("valid-") else "data")
    return sentence

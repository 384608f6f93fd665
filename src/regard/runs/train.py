"""From a recipe to a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.data.sources.pair import Pair
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, find_recipe, resolve_run
from regard.runs.store.folder import PAIRS, Run, claim
from regard.training.parallel.process_group import is_main_process

Pairs = Sequence[tuple[str, str]]


def train(
    recipe: str | Path | Mapping[str, Any] | Pairs,
    overrides: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Run:
    """Train a model and return its run.

    `recipe` is a shipped recipe's name, a task's name, the path of a TOML file, nested settings, or a list of
    (source, target) pairs; `overrides` are settings by dotted name.
    """
    pairs: Pairs | None = None
    if isinstance(recipe, (str, Path)):
        found = find_recipe(str(recipe))
    elif isinstance(recipe, Mapping):
        found = Recipe(str(recipe.get("task", "run")), "the call", recipe)
    else:
        pairs, found = recipe, find_recipe("translate")
    path = Path(out) if out is not None else Path("runs") / found.name
    if pairs is not None:
        kept = {"data": {"train": {"path": str(path / PAIRS)}}}
        found = Recipe(found.name, found.origin, {**found.values, **kept})
    resolved = resolve_run(found, overrides or {})
    run = claim(path, overwrite) if is_main_process() else Run(path)
    if pairs is not None and not pairs:
        raise DataError("There are no sentence pairs to train on; give at least a few hundred.")
    given = [Pair(*pair) for pair in pairs] if pairs is not None else None
    return execute(run, RunSpec(resolved, given, "replace" if run.exists else "new"), progress)

"""A model evaluated on sets, its passports written, and compared with another system: for every task."""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from regard.config.resolve import Layer, resolve
from regard.config.settings import Settings
from regard.data.sources.memory import memory_lines
from regard.errors import ConfigError, RunError
from regard.metrics.bootstrap import bootstrap
from regard.processes import is_main_process
from regard.progress import SILENT, Progress
from regard.runs.scores.model import EvaluatedModel, open_model, task_of
from regard.runs.scores.passport import issue, keep_passport
from regard.runs.scores.rival import Rival, ScoredSystem, compare_systems
from regard.runs.store.folder import RunFolder
from regard.tasks.contract import AnyTask
from regard.tasks.data import EvalSet, Prepared
from regard.tasks.declarations import EvaluateOptions
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.record import RunRecord

ROWS = "data"
"""The name of a set of rows from memory."""


def evaluate_sets(
    model: object,
    data: object = None,
    *,
    test_set: str | None = None,
    against: object = None,
    out: str | Path | None = None,
    device: str = "auto",
    options: EvaluateOptions | Values | None = None,
    progress: Progress = SILENT,
) -> dict[str, Evaluation]:
    """Return the evaluation of a model on data or on its own test sets, by name, and write a passport for each.

    `model` and `against` are pipelines, or paths of runs, checkpoints or hf:DIR; `against` may be a passport or a
    file of outputs too. `data` is a source as settings name it, a path, or rows from memory.
    """
    task = task_of(model)
    if not isinstance(options, EvaluateOptions):
        options = resolve(task.evaluation, [Layer("the call", options or {})]).settings
    out = None if out is None else Path(out)
    rival = None if against is None else Rival(task, against, device)
    opened = open_model(model, device)
    task.check_options(opened.pipeline, options, opened.name)
    if rival and rival.model is not None:
        task.check_options(rival.model.pipeline, options, rival.name)
    with tempfile.TemporaryDirectory(prefix="regard-text-") as name:
        folder = Path(name)
        source = as_source(task, data, folder)
        if rival and rival.set is not None and source is None and test_set is None:
            test_set = rival.set
        sets = eval_sets(opened, source, test_set, folder, progress)
        if source is not None and name in str(getattr(source, "name", "")):
            (rows,) = sets.values()
            sets = {ROWS: replace(rows, name=ROWS)}
        _check_room(sets, out, rival)
        return {
            name: _evaluate(opened, chosen, options, rival, out, folder / "other", progress)
            for name, chosen in sets.items()
        }


def as_source(task: AnyTask, data: object, folder: Path) -> Settings | None:
    """Return data as the source of a set: settings, a path, their values by name, or rows, which go into a file."""
    if data is None or isinstance(data, Settings):
        return data
    fields = task.eval_source.model_fields
    if isinstance(data, (str, Path)) and {"path", "paths"} & set(fields):
        data = task.file_source(str(data))
    if isinstance(data, Mapping) and set(data) <= set(fields):
        return resolve(task.eval_source, [Layer("data", data)]).settings
    if isinstance(data, (str, Path, Mapping)) or not isinstance(data, Iterable):
        raise ConfigError(
            f"data: {type(data).__name__} is no set to evaluate {task.wording.plural} on; name its files as settings "
            f"do ({', '.join(fields)})."
        )
    file = folder / "data.jsonl"
    records = memory_lines(data, task.rows)
    file.write_text("".join(line + "\n" for line in records), encoding="utf-8")
    return resolve(task.eval_source, [Layer("data", task.file_source(str(file), records))]).settings


def eval_sets(
    model: EvaluatedModel, source: Settings | None, test_set: str | None, folder: Path, progress: Progress
) -> dict[str, EvalSet]:
    """Return the set at a source, or a run's own test sets, of which `test_set` picks one."""
    task, name, record = model.task, model.name, model.record
    if source is not None and test_set is not None:
        raise ConfigError(
            f"--test-set {test_set} picks one of the run's own test sets; leave it out, or the other data."
        )
    if source is None and not model.origin:
        raise ConfigError("data: a pipeline alone has no test sets; give data, or the path of a run.")
    if source is None and record is None:
        raise RunError(f"{name}: a checkpoint alone has no test sets; give {task.eval_flags}.")
    sets = task.eval_sets(model.pipeline, source, record, folder, progress)
    if test_set is not None and test_set not in sets:
        names = f"whose test sets are {', '.join(sets)}; name one of these" if sets else "which has no test sets"
        raise ConfigError(f"--test-set {test_set}: {name} is {task.wording.noun}, {names}.")
    if not sets:
        raise ConfigError(
            f"{name}: the settings of this run name no test sets; use regard evaluate {name} with {task.eval_flags}."
        )
    chosen = sets if test_set is None else {test_set: sets[test_set]}
    if model.is_foreign:
        return {name: task.adapted(model.pipeline, each, progress) for name, each in chosen.items()}
    return chosen


def evaluate_set(
    task: AnyTask, pipeline: Any, chosen: EvalSet, options: EvaluateOptions, progress: Progress
) -> Evaluation:
    """Return the evaluation of a pipeline on one set, with the confidence intervals of its metrics.

    Of several processes the main one has intervals.
    """
    evaluation = task.evaluate(pipeline, chosen, options, progress)
    intervals = bootstrap(evaluation.statistics, evaluation.count) if is_main_process() else {}
    return replace(evaluation, task=task.name, intervals=intervals)


def score_run(
    task: AnyTask, run: RunFolder, pipeline: Any, prepared: Prepared[Any], progress: Progress
) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, and return the scores for run.json.

    Of several processes, which compute together, the main one writes the passports.
    """
    options, record = task.evaluation(), run.record
    sets = dict(prepared.tests) or _recorded_sets(task, pipeline, record, progress)
    evaluations = {}
    for name, chosen in sets.items():
        evaluation = evaluate_set(task, pipeline, chosen, options, progress)
        if not is_main_process():
            continue
        passport = issue(evaluation, pipeline, str(run.path))
        keep_passport(passport, evaluation.decode_defaults, run.path, progress=progress)
        evaluations[name] = evaluation.to_dict()
        if constant := task.constant(evaluation.outputs):
            progress.warn(
                f"{name}: {constant}, whatever the input: the model has learned nothing of its inputs; "
                f"train longer, lower train.learning_rate, or check the data with regard doctor."
            )
    return evaluations


def _recorded_sets(task: AnyTask, pipeline: Any, record: RunRecord, progress: Progress) -> dict[str, EvalSet]:
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        return task.eval_sets(pipeline, None, record, Path(folder), progress)


def _evaluate(
    model: EvaluatedModel,
    chosen: EvalSet,
    options: EvaluateOptions,
    rival: Rival | None,
    out: Path | None,
    folder: Path,
    progress: Progress,
) -> Evaluation:
    task, pipeline = model.task, model.pipeline
    if rival:
        rival.check(model.name, pipeline, chosen)
    evaluation = evaluate_set(task, pipeline, chosen, options, progress)
    files: tuple[Path, ...] = ()
    if (model.origin or out is not None) and is_main_process():
        path = Path(model.origin) if model.origin else None
        passport = issue(evaluation, pipeline, model.origin)
        files = keep_passport(passport, evaluation.decode_defaults, path, out, progress)
    if rival is None:
        return replace(evaluation, files=files)
    other = rival.on(chosen, options, folder, progress)
    comparison = compare_systems(task, chosen.name, ScoredSystem.of(evaluation, model.name), other)
    return replace(evaluation, files=files, comparison=comparison)


def _check_room(sets: Mapping[str, EvalSet], out: Path | None, rival: Rival | None) -> None:
    """Refuse before anything is computed what could only fail after it."""
    if len(sets) == 1:
        return
    names = ", ".join(sets)
    if out is not None and out.suffix == ".json":
        raise ConfigError(
            f"--out {out} holds one passport, but there are {len(sets)} sets ({names}); name a folder, or choose "
            f"one with --test-set."
        )
    if rival and rival.lines is not None:
        raise ConfigError(
            f"{rival.name} holds the outputs of one set, but there are {len(sets)} ({names}); choose one with "
            f"--test-set."
        )

"""A model evaluated on sets, its passports written, and compared with another system: for every task."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.checkpoint.identity import HUGGING_FACE, checkpoint_path
from regard.config.resolve import Layer, resolve
from regard.config.settings import Settings
from regard.data.sources.lines import read_lines
from regard.errors import ConfigError, RunError
from regard.progress import SILENT, Progress
from regard.runs.scores.compare import Comparison, check_same_set, compare
from regard.runs.scores.passport import Passport, issue, keep_passport, read_passport
from regard.runs.store.folder import RunFolder
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.data import EvalSet, Prepared
from regard.tasks.declarations import EvaluateOptions
from regard.tasks.evaluation import Evaluation
from regard.tasks.load import load, read_task
from regard.tasks.record import RunRecord


@dataclass(frozen=True)
class EvaluatedSet:
    """An evaluation with its passport."""

    evaluation: Evaluation
    passport: Passport | None = None
    """None for tasks that write none."""
    files: tuple[Path, ...] = ()
    """Where the passport was written."""
    comparison: Comparison | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the outputs left out."""
        values = self.evaluation.to_dict() | ({} if self.passport is None else self.passport.facts)
        values |= {"files": [str(file) for file in self.files]} if self.passport else {}
        return values | ({"against": self.comparison.to_dict()} if self.comparison else {})


def evaluate_sets(
    path: str | Path,
    source: Settings | None = None,
    *,
    test_set: str | None = None,
    against: str | Path | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    options: EvaluateOptions | Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> dict[str, EvaluatedSet]:
    """Evaluate a run, checkpoint or hf:DIR on other data or on its own test sets, by name, with a passport for each.

    `against` is another run or checkpoint, a passport, or a file with one output a line; `out` is a .json file or a
    folder for the passports; `options` are those of the task, such as beam_size.
    """
    task = find_task(read_task(path))
    if task.passport is None:
        for flag, value in {"--against": against, "--out": out}.items():
            if value is not None:
                raise ConfigError(
                    f"{flag} {value}: {task.wording.plural} have no score passports, and {path} is "
                    f"{task.wording.noun}; leave it out."
                )
    if not isinstance(options, EvaluateOptions):
        options = resolve(task.evaluation, [Layer("the call", options or {})]).settings
    out = None if out is None else Path(out)
    rival = _Rival(task, Path(against), device) if against is not None else None
    if rival and rival.passport and source is None and test_set is None:
        test_set = rival.passport.record.set
    pipeline = load(path, device)
    task.check_options(pipeline, options, str(path))
    if rival and rival.pipeline is not None:
        task.check_options(rival.pipeline, options, str(rival.path))
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        sets = eval_sets(task, pipeline, path, source, test_set, Path(folder), progress)
        _check_room(sets, out, rival)
        return {
            name: _evaluate(task, pipeline, path, chosen, options, rival, out, progress)
            for name, chosen in sets.items()
        }


def evaluate(model: Any, data: Any = None, *, progress: Progress = SILENT, **options: Any) -> dict[str, Evaluation]:
    """Evaluate a model on data or on its own test sets, and return the evaluation of each set by name.

    `model` is a pipeline, or the path of a run, a checkpoint or hf:DIR; `data` is a source as settings name it, or
    rows from memory, such as (source, target) pairs for a translator; `options` are those of the task, such as
    beam_size.
    """
    path = None if hasattr(model, "bundle") else model
    pipeline = model if path is None else load(path)
    task = find_task(pipeline.bundle.task)
    chosen = resolve(task.evaluation, [Layer("the call", options)]).settings
    task.check_options(pipeline, chosen, "this" if path is None else str(path))
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        if data is None or isinstance(data, Settings):
            if path is None and data is None:
                raise ConfigError("data: a pipeline alone has no test sets; give data, or the path of a run.")
            sets = eval_sets(task, pipeline, path or "", data, None, Path(folder), progress)
        else:
            sets = {"data": task.memory_set("data", list(data))}
        return {name: task.evaluate(pipeline, each, chosen, progress) for name, each in sets.items()}


def eval_sets(
    task: AnyTask,
    pipeline: Any,
    path: str | Path,
    source: Settings | None,
    test_set: str | None,
    folder: Path,
    progress: Progress,
) -> dict[str, EvalSet]:
    """Return the set at a source, or a run's own test sets, of which `test_set` picks one."""
    run = RunFolder(Path(path))
    record = run.record if run.exists else None
    if source is not None and test_set is not None:
        raise ConfigError(
            f"--test-set {test_set} picks one of the run's own test sets; leave it out, or the other data."
        )
    if source is None and record is None:
        raise RunError(f"{path}: a checkpoint alone has no test sets; give {task.wording.data_flags}.")
    sets = task.eval_sets(pipeline, source, record, folder, progress)
    if test_set is not None and test_set not in sets:
        names = f"whose test sets are {', '.join(sets)}; name one of these" if sets else "which has no test sets"
        raise ConfigError(f"--test-set {test_set}: {path} is {task.wording.noun}, {names}.")
    if not sets:
        way_out = task.evaluated_with or f"regard evaluate {path} with {task.wording.data_flags}"
        raise ConfigError(f"{path}: the settings of this run name no test sets; use {way_out}.")
    chosen = sets if test_set is None else {test_set: sets[test_set]}
    if str(path).startswith(HUGGING_FACE):
        return {name: task.adapted(pipeline, each, progress) for name, each in chosen.items()}
    return chosen


def score_run(
    task: AnyTask, run: RunFolder, pipeline: Any, prepared: Prepared[Any], progress: Progress
) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, write their passports, and return the scores for run.json."""
    options, record = task.evaluation(), run.record
    sets = dict(prepared.tests) or _recorded_sets(task, pipeline, record, progress)
    evaluations = []
    for chosen in sets.values():
        evaluation = task.evaluate(pipeline, chosen, options, progress)
        if task.passport is not None:
            passport = issue(evaluation, pipeline, run.best, str(run.path))
            keep_passport(passport, evaluation.decode_defaults, run.path, progress=progress)
        evaluations.append(evaluation)
    return task.record_scores(evaluations)


def _recorded_sets(task: AnyTask, pipeline: Any, record: RunRecord, progress: Progress) -> dict[str, EvalSet]:
    with tempfile.TemporaryDirectory(prefix="regard-text-") as folder:
        return task.eval_sets(pipeline, None, record, Path(folder), progress)


def _evaluate(
    task: AnyTask,
    pipeline: Any,
    path: str | Path,
    chosen: EvalSet,
    options: EvaluateOptions,
    rival: "_Rival | None",
    out: Path | None,
    progress: Progress,
) -> EvaluatedSet:
    if rival:
        rival.check(str(path), chosen)
    evaluation = task.evaluate(pipeline, chosen, options, progress)
    if task.passport is None:
        return EvaluatedSet(evaluation)
    passport = issue(evaluation, pipeline, checkpoint_path(path), str(path))
    files = keep_passport(passport, evaluation.decode_defaults, Path(path), out, progress)
    if rival is None:
        return EvaluatedSet(evaluation, passport, files)
    other = rival.on(chosen, options, progress)
    tests = lambda outputs: task.differences(pipeline, chosen, outputs, progress)
    return EvaluatedSet(evaluation, passport, files, compare(passport, other, len(chosen.rows), tests))


def _check_room(sets: Mapping[str, EvalSet], out: Path | None, rival: "_Rival | None") -> None:
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
            f"{rival.path} holds the outputs of one set, but there are {len(sets)} ({names}); choose one with "
            f"--test-set."
        )


class _Rival:
    """The other system: a model, a passport, or a file of outputs."""

    def __init__(self, task: AnyTask, path: Path, device: str) -> None:
        self.task, self.path = task, path
        self.passport: Passport | None = None
        self.lines: list[str] | None = None
        self.pipeline: Any = None
        if not path.exists():
            raise RunError(f"{path}: there is no run, passport or file of outputs here; check the path.")
        if path.is_dir():
            name = read_task(path)
            if name != task.name:
                raise ConfigError(
                    f'{path}: its task is "{name}", and only models of the same task ({task.name}) can be compared.'
                )
            self.pipeline = load(path, device)
        elif path.suffix == ".json":
            self.passport = read_passport(path)
        else:
            self.lines = read_lines(path)

    def check(self, origin: str, chosen: EvalSet) -> None:
        """Refuse what cannot be compared before anything is computed."""
        if self.passport:
            check_same_set(origin, self.task.set_hashes(chosen), self.passport)
        if self.lines is not None:
            self.task.evaluate_outputs(chosen, self.lines, str(self.path))

    def on(self, chosen: EvalSet, options: EvaluateOptions, progress: Progress) -> Passport:
        """Return its passport on a set."""
        if self.passport:
            return self.passport
        if self.pipeline is not None:
            unencoded = replace(chosen, encoded=None)  # its tokenizer may be another
            evaluation = self.task.evaluate(self.pipeline, unencoded, options, progress)
            return issue(evaluation, self.pipeline, checkpoint_path(self.path), str(self.path))
        evaluation = self.task.evaluate_outputs(chosen, self.lines or [], str(self.path))
        return Passport(str(self.path), {"set": chosen.name} | evaluation.metrics, evaluation.outputs)

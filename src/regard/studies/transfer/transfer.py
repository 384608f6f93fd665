"""A transfer from its beginning, or from where it was interrupted, to its report."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard import registry
from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import read_bundle
from regard.config.overrides import nested
from regard.config.parsing import ParseError, parse_json
from regard.config.resolve import Resolved
from regard.config.settings import flatten
from regard.data.settings.examples import LabelSource
from regard.data.sources.lines import read_lines
from regard.errors import ConfigError, DataError, RegardError, RunError
from regard.progress import SILENT, Progress
from regard.runs.execute import RunSpec, Start, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.store.folder import missing_folders, removed_if_empty
from regard.studies.folder import ENDED, RESULTS
from regard.studies.race.leaderboard import NamedProgress
from regard.studies.transfer.folder import Transfer, TransferRun, claim_transfer
from regard.studies.transfer.methods import METHODS, USUAL, Method, check_methods, parse_sizes
from regard.studies.transfer.pretrained import Starts, check_start, needed_starts
from regard.studies.transfer.report import write_report
from regard.studies.transfer.results import collect
from regard.studies.transfer.split import TransferSplit

EXAMPLES = 32
"""Examples of an update."""
MINIATURE = "miniature:"
EMBEDDED = {"path": "miniature:opinions/train", "max_rows": 1_000}
EMBEDDED_TEST = {"path": "miniature:opinions/test", "max_rows": 500}
SIZES, EMBEDDED_SIZES = ("100", "1000", "all"), ("20", "100", "all")
"""How many examples are learned from unless told: of a user's, and of the embedded reviews."""

Show = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class TransferStudy:
    """What a user wants to know."""

    data: Mapping[str, Any] | None = None
    """Where the examples are (path, columns); unset: reviews of the embedded world."""
    test: Mapping[str, Any] | None = None
    """Where those are that are scored on; unset: carved out, always the same."""
    methods: Sequence[str] = USUAL
    sizes: Sequence[str] | None = None
    """Numbers of training examples, or `all`; unset: 100, 1000 and all, and 20, 100 and all of embedded reviews."""
    seeds: int = 3
    starts: Mapping[str, str | None] = field(default_factory=dict)
    """By need (vectors, elmo, bert): a file, a run, or hf:DIR."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all runs by dotted name."""


def transfer(
    question: TransferStudy,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
    show: Show = lambda results: None,
) -> Transfer:
    """Learn one task from more and more examples with several beginnings, and report what each buys.

    A transfer that was interrupted goes on when the same is asked for again.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ConfigError("A transfer compares runs on one device; start it without torchrun.")
    usual = EMBEDDED_SIZES if question.data is None else SIZES
    methods, sizes = check_methods(question.methods), parse_sizes(usual if question.sizes is None else question.sizes)
    if question.seeds < 1:
        raise ConfigError(f"--seeds: {question.seeds} are none; give 1 or more.")
    data = dict(question.data or EMBEDDED)
    is_miniature = str(data["path"]).startswith(MINIATURE)
    test = dict(question.test) if question.test else (EMBEDDED_TEST if question.data is None else None)
    starts = needed_starts(methods, question.starts, is_miniature)
    for need, place in starts.items():
        if place is not None:
            check_start(need, place)
    overrides = dict(flatten(nested(question.overrides)))
    asked = {
        "data": data,
        "test": test,
        "methods": methods,
        "sizes": sizes,
        "seeds": question.seeds,
        "starts": starts,
        "settings": {name: value for name, value in overrides.items() if not name.startswith("machine.")},
    }
    stem = Path(str(data["path"]).replace(":", "-").replace("/", "-")).name.partition(".")[0]
    path = Path(out) if out is not None else Path("transfers") / stem
    made = missing_folders(path)
    found = claim_transfer(path, asked, overwrite)
    with removed_if_empty(made), Run(path).in_hand():
        tested = None if test is None else LabelSource.model_validate(test)
        try:
            split = TransferSplit(path / "data", LabelSource.model_validate(data), tested, progress)
            split.check(sizes)
        except RegardError:
            if not found.is_begun:
                found.clear()  # so that the same command, put right, is not refused for what was asked before
            raise
        machine = {name: value for name, value in overrides.items() if name.startswith("machine.")}
        _Course(found, asked, split, Starts(found, starts, machine, progress), overrides, show, progress).go()
    return found


class _Once(NamedProgress):
    """Hands everything on under a name, but says nothing that another run of the study has said."""

    def __init__(self, progress: Progress, name: str, said: set[str]) -> None:
        super().__init__(progress, name)
        self.said = said

    def say(self, message: str) -> None:
        """Tell what is new."""
        if message not in self.said:
            self.said.add(message)
            super().say(message)


class _Course:
    """One cell after the other."""

    def __init__(
        self,
        transfer: Transfer,
        asked: dict[str, Any],
        split: TransferSplit,
        starts: Starts,
        overrides: dict[str, Any],
        show: Show,
        progress: Progress,
    ) -> None:
        self.transfer, self.asked, self.split, self.starts = transfer, asked, split, starts
        self.overrides, self.show, self.progress = overrides, show, progress
        self.failed: dict[str, str] = {}
        self.said: set[str] = set()

    def go(self) -> None:
        """Run until all have finished, or one was interrupted; what has been reached is reported either way."""
        cells = self.transfer.cells(self.asked)
        results = self._tell(cells)
        for cell in cells:
            if self.transfer.figures(cell) is not None or cell.method in self.failed:
                continue
            try:
                if not self._learn(cell):
                    break
            except RegardError as error:
                self.failed[cell.method] = str(error)
                self.progress.warn(f"{cell.method}: {error} The others go on without it.")
            results = self._tell(cells)
        if results["cells"]:
            write_report(results, self.transfer.path)
        if len(self.failed) == len(self.asked["methods"]):
            raise RunError(f"{self.transfer.path}: no method got through: {next(iter(self.failed.values()))}")

    def _learn(self, cell: TransferRun) -> bool:
        """Train one run, or go on with it, and keep its figures; False if it was interrupted."""
        method = METHODS[cell.method]
        starts: dict[str, str | None] = {need: self.starts(need) for need in method.all_needs}
        if None in starts.values():
            return False
        run, progress = self.transfer.run(cell), _Once(self.progress, cell.name, self.said)
        if run.exists and run.state not in ENDED:
            resume(run.path, progress=progress)
        elif not (run.exists and run.scores and run.has_checkpoint):  # or its figures were lost
            start: Start = "replace" if run.exists else "new"
            execute(run, RunSpec(self._settings(cell, method, starts), start=start), progress)
        if run.state not in ENDED:
            return False
        self.transfer.keep(cell, _figures(run))
        return True

    def _settings(self, cell: TransferRun, method: Method, starts: Mapping[str, str | None]) -> Resolved[Any]:
        learned = self.split.learned(cell.size, cell.seed)
        count = len(self.split.train) if cell.size is None else cell.size
        per_epoch = math.ceil(count / EXAMPLES)
        steps = max(method.epochs * per_epoch, method.least_updates)
        changes: dict[str, Any] = {
            "data.train.path": str(learned),
            "data.valid.path": str(self.split.place("valid")),
            "data.test.test.path": str(self.split.place("test")),
            "seed": cell.seed,
            "preflight": False,
            "train.steps": steps,
            "train.examples_per_update": EXAMPLES,
            "train.validate_every": 0.2,
            "train.keep_last": 1,
            "train.tensorboard": False,
            **method.settings,
            **({} if method.settings.get("freeze_body") else self.starts.tuning(method.needs)),
            **({"init_from": starts[method.needs]} if method.needs else {}),
            **({"extra_vectors": starts[method.beside]} if method.beside else {}),
        }
        # Columns are named, so that nobody guesses and tells them once more for every run.
        columns = {"text_column": "text", "label_column": "label"}
        columns |= {"second_column": "second"} if "second" in _fields(learned) else {}
        changes |= {
            f"data.{role}.{column}": name
            for role in ("train", "valid", "test.test")
            for column, name in columns.items()
        }
        return resolve_run(find_recipe(registry.task_of_model("encoder", "classification")), changes | self.overrides)

    def _tell(self, cells: Sequence[TransferRun]) -> dict[str, Any]:
        """Write what is known so far, show it, and return it."""
        results = collect(self.transfer, self.asked, cells, self.split, self.starts.cost(), self.failed)
        if results["cells"]:
            write_json(self.transfer.path / RESULTS, results)
        self.show(results)
        return results


def _fields(path: Path) -> set[str]:
    """Return the fields of the first example of a set; its files are written by `Split`."""
    lines = read_lines(path)
    try:
        return set(parse_json(lines[0])) if lines else set()
    except (ParseError, TypeError):
        raise DataError(f"{path}: this is not what was written here; remove it, and it is made anew.") from None


def _figures(run: Run) -> dict[str, Any]:
    """Return what came of a run, as plain values."""
    record = run.record
    score: Any = record.scores.get("test")
    if score is None:
        raise RunError(f"{run.path}: it has no scores on the set test; remove it, and it is trained anew.")
    model: Any = read_bundle(run.best).model
    trained = sum(each.numel() for each in model.parameters() if each.requires_grad)
    kept = ("accuracy", "macro_f1", "loss", "majority_baseline", "mix")
    return {name: score[name] for name in kept if name in score} | {
        "seconds": record.seconds,
        "steps": record.steps,
        "parameters": record.parameters,
        "learned_parameters": trained,
        "machine": record.machine.plain if record.machine else {},
    }

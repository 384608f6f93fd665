"""Transfer studies: one task trained from several pretrained models on training sets of several sizes."""

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
from regard.errors import ConfigError, DataError, RegardError, RunError, RunInterrupted
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, Start, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.store.folder import missing_folders, removed_if_empty
from regard.studies.folder import ENDED, RESULTS, STOPPED
from regard.studies.race.leaderboard import NamedProgress
from regard.studies.transfer.folder import Transfer, TransferRun, claim_transfer
from regard.studies.transfer.methods import DEFAULT_METHODS, METHODS, Method, check_methods, parse_sizes
from regard.studies.transfer.pretrained import PretrainedModels, check_pretrained, needed_models
from regard.studies.transfer.report import write_report
from regard.studies.transfer.results import collect
from regard.studies.transfer.split import TransferSplit

EXAMPLES = 32
"""Examples per update."""
MINIATURE = "miniature:"
EMBEDDED = {"path": "miniature:opinions/train", "max_rows": 1_000}
EMBEDDED_TEST = {"path": "miniature:opinions/test", "max_rows": 500}
SIZES, EMBEDDED_SIZES = ("100", "1000", "all"), ("20", "100", "all")
"""Default numbers of training examples: of given data, and of the miniature reviews."""

Show = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class TransferStudy:
    """The request of a transfer study."""

    data: Mapping[str, Any] | None = None
    """Source of the examples: path and columns (default: reviews of the miniature world)."""
    test: Mapping[str, Any] | None = None
    """Source of the test examples (default: held out by hash, always the same)."""
    methods: Sequence[str] = DEFAULT_METHODS
    sizes: Sequence[str] | None = None
    """Numbers of training examples, or `all` (default: 100, 1000, all; of the miniature reviews 20, 100, all)."""
    seeds: int = 3
    """Runs of each method and size."""
    pretrained: Mapping[str, str | None] = field(default_factory=dict)
    """Pretrained models by kind (vectors, elmo, bert): a file, a run, or hf:DIR."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all runs, by dotted name."""


def transfer(
    study: TransferStudy,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    show: Show = lambda results: None,
) -> Transfer:
    """Train one task with several methods on training sets of several sizes, and write a report.

    A signal stops it, saved, with KeyboardInterrupt or RunInterrupted; the same call resumes it.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ConfigError("A transfer study compares runs on one device; start it without torchrun.")
    progress = as_progress(progress)
    default = EMBEDDED_SIZES if study.data is None else SIZES
    methods, sizes = check_methods(study.methods), parse_sizes(default if study.sizes is None else study.sizes)
    if study.seeds < 1:
        raise ConfigError(f"--seeds: {study.seeds} is less than one; give 1 or more.")
    data = dict(study.data or EMBEDDED)
    is_miniature = str(data["path"]).startswith(MINIATURE)
    test = dict(study.test) if study.test else (EMBEDDED_TEST if study.data is None else None)
    models = needed_models(methods, study.pretrained, is_miniature)
    for kind, source in models.items():
        if source is not None:
            check_pretrained(kind, source)
    overrides = dict(flatten(nested(study.overrides)))
    asked = {
        "data": data,
        "test": test,
        "methods": methods,
        "sizes": sizes,
        "seeds": study.seeds,
        "pretrained": models,
        "settings": {name: value for name, value in overrides.items() if not name.startswith("machine.")},
    }
    stem = Path(str(data["path"]).replace(":", "-").replace("/", "-")).name.partition(".")[0]
    path = Path(out) if out is not None else Path("transfers") / stem
    made = missing_folders(path)
    folder = claim_transfer(path, asked, overwrite)
    with removed_if_empty(made), Run(path).in_hand():
        tested = None if test is None else LabelSource.model_validate(test)
        try:
            split = TransferSplit(path / "data", LabelSource.model_validate(data), tested, progress)
            split.check(sizes)
        except RegardError:
            if not folder.is_begun:
                folder.clear()  # so that the corrected command is not refused for another request
            raise
        machine = {name: value for name, value in overrides.items() if name.startswith("machine.")}
        pretrained = PretrainedModels(folder, models, machine, progress)
        _Session(folder, asked, split, pretrained, overrides, show, progress).run()
    return folder


class _Once(NamedProgress):
    """Forwards messages with a name in front, each message of the study once."""

    def __init__(self, progress: Progress, name: str, messages: set[str]) -> None:
        super().__init__(progress, name)
        self.messages = messages

    def info(self, message: str) -> None:
        """Forward a new message."""
        if message not in self.messages:
            self.messages.add(message)
            super().info(message)


class _Session:
    """Trains and scores one run after the other."""

    def __init__(
        self,
        transfer: Transfer,
        asked: dict[str, Any],
        split: TransferSplit,
        pretrained: PretrainedModels,
        overrides: dict[str, Any],
        show: Show,
        progress: Progress,
    ) -> None:
        self.transfer, self.asked, self.split, self.pretrained = transfer, asked, split, pretrained
        self.overrides, self.show, self.progress = overrides, show, progress
        self.failed: dict[str, str] = {}
        self.messages: set[str] = set()

    def run(self) -> None:
        """Run until all runs have finished or a signal stops one, and write the report."""
        stop: BaseException | None = None
        cells = self.transfer.cells(self.asked)
        results = self._publish(cells)
        for cell in cells:
            if self.transfer.metrics(cell) is not None or cell.method in self.failed:
                continue
            try:
                self._train(cell)
            except (KeyboardInterrupt, RunInterrupted) as interrupt:
                stop = type(interrupt)(STOPPED)
                break
            except RegardError as error:
                self.failed[cell.method] = str(error)
                self.progress.warn(f"{cell.method}: {error} The study continues without it.")
            results = self._publish(cells)
        if results["cells"]:
            write_report(results, self.transfer.path)
        if stop:
            raise stop
        if len(self.failed) == len(self.asked["methods"]):
            raise RunError(
                f"{self.transfer.path}: all methods failed, the first one with: {next(iter(self.failed.values()))}"
            )

    def _train(self, cell: TransferRun) -> None:
        """Train or resume one run, and store its metrics."""
        method = METHODS[cell.method]
        paths: dict[str, str] = {kind: self.pretrained.path(kind) for kind in method.pretrained}
        run, progress = self.transfer.run(cell), _Once(self.progress, cell.name, self.messages)
        if run.exists and run.state not in ENDED:
            resume(run.path, progress=progress)
        elif not (run.exists and run.scores and run.has_checkpoint):  # or its metrics were lost
            start: Start = "replace" if run.exists else "new"
            execute(run, RunSpec(self._settings(cell, method, paths), start=start), progress)
        self.transfer.store(cell, _metrics(run))

    def _settings(self, cell: TransferRun, method: Method, paths: Mapping[str, str]) -> Resolved[Any]:
        train = self.split.training_set(cell.size, cell.seed)
        count = len(self.split.train) if cell.size is None else cell.size
        per_epoch = math.ceil(count / EXAMPLES)
        steps = max(method.epochs * per_epoch, method.min_updates)
        changes: dict[str, Any] = {
            "data.train.path": str(train),
            "data.valid.path": str(self.split.path("valid")),
            "data.test.test.path": str(self.split.path("test")),
            "seed": cell.seed,
            "preflight": False,
            "train.steps": steps,
            "train.examples_per_update": EXAMPLES,
            "train.validate_every": 0.2,
            "train.keep_last": 1,
            "train.loggers": [],
            **method.settings,
            **({} if method.settings.get("freeze_body") else self.pretrained.finetuning(method.init_from)),
            **({"init_from": paths[method.init_from]} if method.init_from else {}),
            **({"extra_vectors": paths[method.extra_vectors]} if method.extra_vectors else {}),
        }
        # Columns are set, so that not every run detects and reports them again.
        columns = {"text_column": "text", "label_column": "label"}
        columns |= {"second_column": "second"} if "second" in _fields(train) else {}
        changes |= {
            f"data.{role}.{column}": name
            for role in ("train", "valid", "test.test")
            for column, name in columns.items()
        }
        return resolve_run(find_recipe(registry.task_of_model("encoder", "classification")), changes | self.overrides)

    def _publish(self, cells: Sequence[TransferRun]) -> dict[str, Any]:
        """Write, show and return the results so far."""
        results = collect(self.transfer, self.asked, cells, self.split, self.pretrained.cost(), self.failed)
        if results["cells"]:
            write_json(self.transfer.path / RESULTS, results)
        self.show(results)
        return results


def _fields(path: Path) -> set[str]:
    """Return the fields of the first example of a set that `TransferSplit` wrote."""
    lines = read_lines(path)
    try:
        return set(parse_json(lines[0])) if lines else set()
    except (ParseError, TypeError):
        raise DataError(f"{path}: the file was changed; remove it, and it is written again.") from None


def _metrics(run: Run) -> dict[str, Any]:
    """Return the metrics of a run as plain values."""
    record = run.record
    score: Any = record.scores.get("test")
    if score is None:
        raise RunError(f"{run.path}: it has no scores on the set test; remove it, and it is trained again.")
    model: Any = read_bundle(run.best).model
    trainable = sum(each.numel() for each in model.parameters() if each.requires_grad)
    kept = ("accuracy", "macro_f1", "loss", "majority_baseline", "mix")
    return {name: score[name] for name in kept if name in score} | {
        "seconds": record.seconds,
        "steps": record.steps,
        "parameters": record.parameters,
        "trainable_parameters": trainable,
        "machine": record.machine.plain if record.machine else {},
    }

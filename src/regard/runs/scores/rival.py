"""The other system of a comparison: a model, a passport, or a file of outputs; and the paired test against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.data.sources.lines import read_lines
from regard.errors import ConfigError, DataError, RunError
from regard.metrics.bootstrap import RESAMPLES, SEED, Statistic
from regard.metrics.comparison import ComparedMetric, Comparison
from regard.metrics.significance import paired_bootstrap
from regard.progress import Progress
from regard.runs.scores.model import EvaluatedModel, open_model, task_of
from regard.runs.scores.passport import read_passport
from regard.tasks.contract import AnyTask
from regard.tasks.data import EvalSet
from regard.tasks.declarations import EvaluateOptions
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.record import HashesRecord


@dataclass(frozen=True)
class ScoredSystem:
    """One system on a set, as far as a paired test needs it."""

    name: str
    statistics: Mapping[str, Statistic]
    count: int
    """Its number of outputs."""
    signatures: Mapping[str, str] | None = None
    """The rule of each metric; None: those of the other system."""
    decode: Values = field(default_factory=dict)

    @classmethod
    def of(cls, evaluation: Evaluation, name: str) -> "ScoredSystem":
        """Return the system of an evaluation."""
        signatures = {score.key: score.signature for score in evaluation.scores}
        return cls(name, evaluation.statistics, evaluation.count, signatures, evaluation.decode)


def compare_systems(task: AnyTask, set_name: str, first: ScoredSystem, second: ScoredSystem) -> Comparison:
    """Return the paired bootstrap test of every metric that was computed alike for two systems."""
    if first.count != second.count:
        raise DataError(
            f"{first.name} and {second.name} cannot be paired: they have {first.count:,} and {second.count:,} "
            f"outputs on {set_name}; evaluate both on the same set, cut in the same way."
        )
    compared, left_out = list[ComparedMetric](), list[str]()
    ours = first.signatures or {}
    theirs = ours if second.signatures is None else second.signatures
    for metric in task.metrics:
        if metric.key not in first.statistics or metric.key not in second.statistics:
            continue
        one, other = (each.get(metric.key, next(iter(each.values()), "")) for each in (ours, theirs))
        if one == other:
            compared.append(ComparedMetric(metric.key, metric.label, metric.format, metric.best, one))
        else:
            left_out.append(f"{metric.label} was computed as {one} and as {other}")
    if not compared:
        reasons = "; ".join(left_out) or "they have no metric in common"
        raise DataError(
            f"{first.name} and {second.name} cannot be compared: {reasons}; evaluate both with the same version."
        )
    differences = paired_bootstrap(compared, first.statistics, second.statistics, first.count)
    decoding = {
        name: (value, second.decode[name])
        for name, value in first.decode.items()
        if name in second.decode and second.decode[name] != value
    }
    notes = tuple(f"Not compared: {each}." for each in left_out)
    return Comparison(set_name, first.name, second.name, RESAMPLES, SEED, differences, decoding, notes)


class Rival:
    """The other system, opened before anything is computed, so that a mistake is reported at once."""

    def __init__(self, task: AnyTask, against: object, device: str) -> None:
        self.task = task
        self.system: ScoredSystem | None = None
        self.model: EvaluatedModel | None = None
        self.name = str(getattr(against, "path", against)) if isinstance(against, (str, Path)) else ""
        self.set: str | None = None
        """The set that its passport is of."""
        self._hashes: HashesRecord | None = None
        self._signatures: dict[str, str] | None = None
        self._decode: dict[str, Any] = {}
        self.lines: Sequence[str] | None = None
        path = Path(against) if isinstance(against, (str, Path)) else None
        if path is not None and not path.exists():
            raise RunError(f"{path}: there is no run, passport or file of outputs here; check the path.")
        if path is not None and path.suffix == ".json":
            passport = read_passport(path)
            record = passport.record
            self.set, self.lines, self._hashes = record.set, passport.outputs, record.test_set
            self._signatures = {score.key: score.signature for score in record.scores}
            self._decode = record.decode
        elif path is not None and path.is_file() and task.evaluated_on is None:
            self.lines = read_lines(path)
        else:
            other = task_of(against)
            if other.name != task.name:
                raise ConfigError(
                    f'{self.name or "against"}: its task is "{other.name}", and only models of the same task '
                    f"({task.name}) can be compared."
                )
            self.model = open_model(against, device)
            self.name = self.model.origin or "the other model"

    def check(self, origin: str, pipeline: Any, chosen: EvalSet) -> None:
        """Refuse what cannot be compared before the model is run."""
        if self.lines is None:
            return
        if self._hashes is not None:
            check_same_set(origin, self.task.set_hashes(chosen), self.name, self._hashes)
        try:
            statistics = self.task.statistics(pipeline, chosen, self.lines)
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None
        self.system = ScoredSystem(self.name, statistics, len(self.lines), self._signatures, self._decode)

    def on(self, chosen: EvalSet, options: EvaluateOptions, folder: Path, progress: Progress) -> ScoredSystem:
        """Return the system on a set."""
        if self.model is None:
            assert self.system is not None, "checked before"
            return self.system
        pipeline = self.model.pipeline
        own = self.task.for_model(pipeline, chosen, folder, progress)
        if self.model.is_foreign:
            own = self.task.adapted(pipeline, own, progress)
        return ScoredSystem.of(self.task.evaluate(pipeline, own, options, progress), self.name)


def check_same_set(origin: str, hashes: dict[str, Any], other: str, there: HashesRecord) -> None:
    """Refuse a passport of another test set."""
    sides = {
        "sources": (str(hashes["sources"]), there.sources),
        "references": (" ".join(sorted(hashes["references"])), " ".join(sorted(there.references))),
    }
    for side, (here, elsewhere) in sides.items():
        if here != elsewhere:
            raise DataError(
                f"{origin} and {other} cannot be compared: the {side} of their test sets differ "
                f"(SHA-256 {here[:12]} and {elsewhere[:12]}); evaluate both on the same set."
            )

"""The examples of a fine-tuning run: reading, cleaning, splitting, and warnings about suspicious ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from regard.checkpoint.atomic import fingerprint
from regard.data.cleaning import hold_out
from regard.data.settings.examples import ExampleData
from regard.errors import DataError
from regard.progress import Progress
from regard.tasks.data import EvalSet
from regard.tasks.record import RunRecord

if TYPE_CHECKING:
    from regard.tasks.finetune.base import HeadTask


AnyHeadTask: TypeAlias = "HeadTask[Any, Any, Any]"

IMBALANCE = 10
"""Ratio of the most frequent label to the rarest at which a warning is given."""
SHOWN = 60
"""Maximum characters of a text in a warning."""


@dataclass
class ExampleReport:
    """Counts of one set: examples read, dropped and held out, labels, and suspicious examples."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    held_out: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    contradictory: int = 0
    """Number of texts that occur with different labels."""
    duplicates: int = 0
    """Number of repetitions of an earlier example, text and label."""
    truncated: int = 0
    """Number of examples longer than the maximum length."""
    columns: dict[str, Any] = field(default_factory=dict)
    """The columns of their table, as settings name them."""

    @property
    def kept(self) -> int:
        """The number of remaining examples."""
        return self.read - self.dropped.total() - self.held_out

    def plain(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return vars(self) | {"kept": self.kept, "dropped": dict(self.dropped), "labels": dict(self.labels)}


@dataclass(frozen=True)
class ExampleSets:
    """The sets of a run, with the report on each of them by name."""

    train: list[Any]
    valid: list[Any]
    tests: dict[str, list[Any]]
    reports: dict[str, ExampleReport]
    labels: list[str]
    """All labels, in order; empty where targets are not labels."""

    @property
    def sets(self) -> dict[str, list[Any]]:
        """Every set under the name of its report."""
        tests = {f"test {name}": rows for name, rows in self.tests.items()}
        return {"train": self.train, "valid": self.valid} | tests


def gather_examples(
    task: AnyHeadTask, data: ExampleData[Any], progress: Progress, labels: Sequence[str] | None = None
) -> ExampleSets:
    """Read, clean and split all sets; the labels are those of the training set, unless a model has its own."""
    reports = {name: ExampleReport() for name in ("train", "valid", *(f"test {name}" for name in data.test))}
    train = read_set(task, data.train, reports["train"], progress, is_trained_on=True)
    columns = reports["train"].columns
    known = list(labels or task.labels(train, data.train.name))
    if data.valid is not None:
        valid = read_set(task, data.valid, reports["valid"], progress, columns=columns)
    else:
        train, valid = hold_out(
            train, data.valid_fraction, lambda each: task.texts(each)[0], what=task.unit, origin=data.train.name
        )
        reports["train"].held_out = reports["valid"].read = len(valid)
    tests = {
        name: read_set(task, source, reports[f"test {name}"], progress, columns=columns)
        for name, source in data.test.items()
    }
    sets = ExampleSets(train, valid, tests, reports, known)
    for name, examples in sets.sets.items():
        report = reports[name]
        report.labels = task.label_counts(examples)
        report.contradictory = len(contradictions(examples, task))
        report.duplicates = len(examples) - len({(*task.texts(each), task.target(each)) for each in examples})
    return sets


def read_set(
    task: AnyHeadTask,
    source: Any,
    report: ExampleReport,
    progress: Progress,
    is_trained_on: bool = False,
    columns: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Return the examples of a source that are kept, from the given columns if it has them; count the others."""
    kept: list[Any] = []
    rows, report.columns = task.read(source, progress, columns or {})
    for each in rows:
        report.read += 1
        reason = task.reason_to_drop(each) or (task.reason_not_to_train(each) if is_trained_on else None)
        if reason:
            report.dropped[reason] += 1
        else:
            kept.append(each)
    if not kept:
        raise DataError(f"{source.name}: {task.no_examples}")
    return kept


def example_sets(
    task: AnyHeadTask, facts: Any, source: Any, record: RunRecord | None, progress: Progress
) -> dict[str, EvalSet]:
    """Return the examples at a source, or the test sets of a run (its validation set where it has none)."""
    if source is not None:
        rows = read_set(task, source, ExampleReport(), progress, columns=facts.columns)
        return {source.name: EvalSet(source.name, rows)}
    assert record is not None
    data = record.data_settings(ExampleData[task.source])  # type: ignore[name-defined]
    gathered = gather_examples(task, data, progress, facts.known_labels)
    return {name: EvalSet(name, rows) for name, rows in (gathered.tests or {"valid": gathered.valid}).items()}


def check_sets(task: AnyHeadTask, sets: ExampleSets, facts: Any) -> None:
    """Refuse sets that do not fit the training set."""
    for name, examples in sets.sets.items():
        task.check_rows(name, examples, facts)


def report_counts(task: AnyHeadTask, sets: ExampleSets, progress: Progress) -> None:
    """Report the number of examples of each set, and of those dropped, with the reasons."""
    for name, report in sets.reports.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.most_common())
        held_out = f"; {report.held_out:,} held out for validation" if report.held_out else ""
        progress.info(
            f"{name}: {report.kept:,} of {report.read:,} {task.unit}s kept; dropped: {reasons or 'none'}{held_out}."
        )


def warn_of_labels(task: AnyHeadTask, sets: ExampleSets, progress: Progress) -> None:
    """Warn of imbalanced labels, which make accuracy misleading, and of contradictory ones."""
    labels = sets.reports["train"].labels
    has_one_each = task.shows_imbalance and labels.total() == len(sets.train)
    counts = Counter({label: labels[label] for label in sets.labels}).most_common() if has_one_each else []
    if counts and counts[0][1] >= IMBALANCE * max(1, counts[-1][1]):
        (most, many), (least, few) = counts[0], counts[-1]
        progress.warn(
            f'train: {many:,} examples are "{most}" and only {few:,} "{least}", so accuracy hides how well that one '
            f"is predicted; look at macro F1, and add examples of it."
        )
    for texts, targets in list(contradictions(sets.train, task).items())[:1]:
        both = " and as ".join(_short(each) for each in targets[:3])
        progress.warn(
            f"train: {sets.reports['train'].contradictory:,} texts occur with different labels, such as "
            f'"{_short(texts[0])}" as {both}; no model can learn both.'
        )


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def warn_of_truncation(task: AnyHeadTask, sets: ExampleSets, limit: int, progress: Progress) -> None:
    """Warn of examples longer than `limit` tokens."""
    for name, report in sets.reports.items():
        if report.truncated:
            progress.warn(
                f"{name}: {report.truncated:,} of {report.kept:,} {task.unit}s are longer than {limit:,} tokens "
                f"(max_length), and {task.truncation}."
            )


def example_files(data: ExampleData[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file of examples, by its path."""
    sources = [data.train, *([data.valid] if data.valid else []), *data.test.values()]
    return {each.path: fingerprint(Path(each.path))["sha256"] for each in sources if Path(each.path).is_file()}


def contradictions(examples: Sequence[Any], task: AnyHeadTask) -> dict[tuple[str, ...], list[str]]:
    """Return the texts that occur with labels that have nothing in common, and those labels."""
    groups: dict[tuple[str, ...], list[Any]] = {}
    for each in examples:
        groups.setdefault(task.texts(each), []).append(each)
    return {
        texts: sorted({task.target(each) for each in group})
        for texts, group in groups.items()
        if len(group) > 1 and not frozenset.intersection(*(task.accepted(each) for each in group))
    }

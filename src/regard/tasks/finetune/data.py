"""The examples of a run that fine-tunes: read, cleaned, carved, and what is odd about them counted and said."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import fingerprint
from regard.data.cleaning import hold_out
from regard.data.settings.examples import ExampleData
from regard.errors import DataError
from regard.progress import Progress
from regard.tasks.finetune.base import Facts, HeadTask, contradictions

IMBALANCE = 10
"""How many times as many examples the commonest label may have as the rarest before that is said."""


@dataclass
class ExampleReport:
    """How many examples were read, left out and set apart, which labels they have, and what is odd about them."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    carved: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    contradictory: int = 0
    """Texts that occur with different labels."""
    repeated: int = 0
    """Examples that are there already, text and label."""
    cut: int = 0
    """Examples too long to be read whole."""
    columns: dict[str, Any] = field(default_factory=dict)
    """The columns of a table that they are in, as settings call them."""

    @property
    def kept(self) -> int:
        """How many examples remain."""
        return self.read - self.dropped.total() - self.carved

    def plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        return vars(self) | {"kept": self.kept, "dropped": dict(self.dropped), "labels": dict(self.labels)}


@dataclass(frozen=True)
class ExampleSets:
    """The sets of a run, with the report on each of them by name."""

    train: list[Any]
    valid: list[Any]
    tests: dict[str, list[Any]]
    reports: dict[str, ExampleReport]
    labels: list[str]
    """All labels, in order; none where each example has choices of its own."""

    @property
    def sets(self) -> dict[str, list[Any]]:
        """Every set under the name of its report."""
        return {"train": self.train, "valid": self.valid} | {f"test {name}": it for name, it in self.tests.items()}


def gather_examples(
    shape: HeadTask[Any], data: ExampleData[Any], progress: Progress, labels: Sequence[str] | None = None
) -> ExampleSets:
    """Read, clean and carve all sets; the labels are those of the training set, unless a run knows its own."""
    reports = {name: ExampleReport() for name in ("train", "valid", *(f"test {name}" for name in data.test))}
    train = read_set(shape, data.train, reports["train"], progress, is_learned=True)
    usual = reports["train"].columns
    known = list(labels or shape.labels(train, data.train.name))
    if data.valid is not None:
        valid = read_set(shape, data.valid, reports["valid"], progress, usual=usual)
    else:
        train, valid = hold_out(
            train, data.valid_fraction, lambda each: shape.texts(each)[0], what=shape.what, origin=data.train.name
        )
        reports["train"].carved = reports["valid"].read = len(valid)
    tests = {
        name: read_set(shape, place, reports[f"test {name}"], progress, usual=usual)
        for name, place in data.test.items()
    }
    found = ExampleSets(train, valid, tests, reports, known)
    for name, examples in found.sets.items():
        report = reports[name]
        report.labels = shape.counted(examples)
        report.contradictory = len(contradictions(examples, shape))
        report.repeated = len(examples) - len({(*shape.texts(each), shape.answer(each)) for each in examples})
    return found


def read_set(
    shape: HeadTask[Any],
    place: Any,
    report: ExampleReport,
    progress: Progress,
    is_learned: bool = False,
    usual: Facts | None = None,
) -> list[Any]:
    """Return the examples of a place that are of use, from the usual columns if it has those; count the others."""
    kept: list[Any] = []
    found, report.columns = shape.read(place, progress, usual or {})
    for each in found:
        report.read += 1
        reason = shape.reason_to_drop(each) or (shape.reason_not_to_learn(each) if is_learned else None)
        if reason:
            report.dropped[reason] += 1
        else:
            kept.append(each)
    if not kept:
        raise DataError(f"{place.name}: {shape.needs}")
    return kept


def check_sets(shape: HeadTask[Any], sets: ExampleSets, facts: Facts) -> None:
    """Refuse sets that do not fit the training set."""
    for name, examples in sets.sets.items():
        shape.check(name, examples, facts)


def say_counts(shape: HeadTask[Any], sets: ExampleSets, progress: Progress) -> None:
    """Say how many examples there are, and what was left out."""
    for name, report in sets.reports.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.most_common())
        carved = f"; {report.carved:,} set apart for validation" if report.carved else ""
        progress.say(
            f"{name}: {report.kept:,} of {report.read:,} {shape.what}s kept; dropped: {reasons or 'none'}{carved}."
        )


def say_oddities(shape: HeadTask[Any], sets: ExampleSets, progress: Progress) -> None:
    """Warn of what keeps a model from learning, or a figure from meaning much."""
    labels = sets.reports["train"].labels
    counts = (
        Counter({label: labels[label] for label in sets.labels}).most_common()
        if shape.head == "classification"
        else []
    )
    if counts and counts[0][1] >= IMBALANCE * max(1, counts[-1][1]):
        (most, many), (least, few) = counts[0], counts[-1]
        progress.warn(
            f'train: {many:,} examples are "{most}" and only {few:,} "{least}", so accuracy hides how well that one '
            f"is told; look at macro F1, and add examples of it."
        )
    for texts, answers in list(contradictions(sets.train, shape).items())[:1]:
        start = texts[0] if len(texts[0]) <= 60 else f"{texts[0][:60]}…"
        said = " and as ".join(each if len(each) <= 60 else f"{each[:60]}…" for each in answers[:3])
        progress.warn(
            f"train: {sets.reports['train'].contradictory:,} texts occur with different labels, such as "
            f'"{start}" as {said}; no model can learn both.'
        )


def say_cuts(shape: HeadTask[Any], sets: ExampleSets, limit: int, progress: Progress) -> None:
    """Warn of examples that are too long."""
    for name, report in sets.reports.items():
        if report.cut:
            progress.warn(
                f"{name}: {report.cut:,} of {report.kept:,} {shape.what}s are longer than {limit:,} tokens "
                f"(max_length), and {shape.loses}."
            )


def example_files(data: ExampleData[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file the examples come from."""
    places = [data.train, *([data.valid] if data.valid else []), *data.test.values()]
    return {place.path: fingerprint(Path(place.path))["sha256"] for place in places if Path(place.path).is_file()}

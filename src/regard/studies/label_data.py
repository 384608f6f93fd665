"""The examples of a run that fine-tunes: read, cleaned, carved, and what is odd about them counted and said."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from regard.checkpoint import Bundle
from regard.checkpoint.atomic import fingerprint
from regard.data.choices import Choice, read_choices
from regard.data.cleaning import carve
from regard.data.examples import EncodedExamples, encode_choices, encode_texts
from regard.data.label_settings import ExampleData, TableSource
from regard.data.labelled import Labelled, read_labelled
from regard.errors import DataError
from regard.progress import SILENT, Progress

Example = Labelled | Choice

IMBALANCE = 10
"""How many times as many examples the commonest label may have as the rarest before that is said."""
FEW_LABELS = 20
"""Up to here nobody wonders how many labels there are."""


@dataclass
class ExampleReport:
    """How many examples were read, left out and set apart, which labels they have, and what is odd about them."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    carved: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    contradictory: int = 0
    """Texts that occur with different labels."""
    cut: int = 0
    """Examples too long to be read whole."""

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

    train: list[Example]
    valid: list[Example]
    tests: dict[str, list[Example]]
    reports: dict[str, ExampleReport]
    labels: list[str]
    """All labels, in order; none where each example has choices of its own."""

    @property
    def sets(self) -> dict[str, list[Example]]:
        """Every set under the name of its report."""
        return {"train": self.train, "valid": self.valid} | {f"test {name}": it for name, it in self.tests.items()}


def read_examples(place: TableSource, progress: Progress) -> list[Example]:
    """Return the examples of a place, of the kind that its settings describe."""
    read = cast(Callable[[Any, Progress], list[Example]], read_choices if _has_choices(place) else read_labelled)
    return read(place, progress)


def _has_choices(place: TableSource) -> bool:
    return hasattr(place, "choices_column")


def gather_examples(data: ExampleData[Any], progress: Progress, labels: Sequence[str] | None = None) -> ExampleSets:
    """Read, clean and carve all sets; the labels are those of the training set, unless a run knows its own."""
    reports = {name: ExampleReport() for name in ("train", "valid", *(f"test {name}" for name in data.test))}
    train = clean_examples(read_examples(data.train, progress), reports["train"])
    if not train:
        raise DataError(f"{data.train.name}: no example has both a text and a label.")
    has_choices = _has_choices(data.train)
    known = [] if has_choices else list(labels or label_set(train, data.train.name))
    if data.valid is not None:
        valid = clean_examples(read_examples(data.valid, progress), reports["valid"])
        if not valid:
            raise DataError(f"{data.valid.name}: no example has both a text and a label.")
    else:
        train, valid = carve(train, data.valid_share, lambda each: _texts(each)[0], what="example")
        reports["train"].carved = reports["valid"].read = len(valid)
    tests = {
        name: clean_examples(read_examples(place, progress), reports[f"test {name}"])
        for name, place in data.test.items()
    }
    found = ExampleSets(train, valid, tests, reports, known)
    for name, examples in found.sets.items():
        check_examples(name, examples, len(_texts(train[0])), known)
        reports[name].labels = Counter(str(each.label) for each in examples)
        reports[name].contradictory = len(contradictions(examples))
    return found


def clean_examples(examples: Sequence[Example], report: ExampleReport) -> list[Example]:
    """Return the examples that have texts and a label."""
    kept: list[Example] = []
    for each in examples:
        report.read += 1
        reason = "empty" if not all(_texts(each)) else "without a label" if each.label == "" else None
        if reason:
            report.dropped[reason] += 1
        else:
            kept.append(each)
    return kept


def _texts(example: Example) -> tuple[str, ...]:
    return (example.context,) if isinstance(example, Choice) else example.texts


def label_set(examples: Sequence[Example], name: str) -> list[str]:
    """Return the labels that occur, in the order of numbers or of the alphabet; what can be no labels is refused."""
    found = {str(each.label) for each in examples}
    if len(found) == 1:
        raise DataError(f'{name}: every example has the label "{found.pop()}", so there is nothing to tell apart.')
    if len(found) > max(FEW_LABELS, len(examples) // 2):
        raise DataError(
            f"{name}: {len(found):,} labels for {len(examples):,} examples are no labels; name the right column with "
            f"label_column."
        )
    return sorted(found, key=int) if all(each.isdecimal() for each in found) else sorted(found)


def check_examples(name: str, examples: Sequence[Example], texts: int, labels: Sequence[str]) -> None:
    """Refuse a set that is not of the kind a model learns, or has learned, from."""
    for each in examples:
        if isinstance(each, Choice):
            return
        if len(each.texts) != texts:
            raise DataError(
                f"{name}: it has {len(each.texts)} texts an example, but the training set has {texts}; name the "
                f"columns of both."
            )
        if each.label not in labels:
            count = sum(other.label == each.label for other in examples)
            times = "once" if count == 1 else f"{count:,} times"
            raise DataError(
                f'{name}: the label "{each.label}" ({times}) does not occur in the training set '
                f"({', '.join(labels)}); add examples of it there, or leave these out."
            )


def contradictions(examples: Sequence[Example]) -> dict[tuple[str, ...], list[str]]:
    """Return the texts that occur with different labels, and those labels."""
    said: dict[tuple[str, ...], set[str]] = {}
    for each in examples:
        if isinstance(each, Choice):
            said.setdefault((each.context, *sorted(each.choices)), set()).add(each.choices[each.label])
        else:
            said.setdefault(each.texts, set()).add(each.label)
    return {key: sorted(labels) for key, labels in said.items() if len(labels) > 1}


def say_counts(sets: ExampleSets, progress: Progress) -> None:
    """Say how many examples there are, and what was left out."""
    for name, report in sets.reports.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.most_common())
        carved = f"; {report.carved:,} set apart for validation" if report.carved else ""
        progress.say(
            f"{name}: {report.kept:,} of {report.read:,} examples kept; dropped: {reasons or 'none'}{carved}."
        )


def say_oddities(sets: ExampleSets, progress: Progress) -> None:
    """Warn of what keeps a model from learning, or a figure from meaning much."""
    counts = Counter({label: sets.reports["train"].labels[label] for label in sets.labels}).most_common()
    if counts and counts[0][1] >= IMBALANCE * max(1, counts[-1][1]):
        (most, many), (least, few) = counts[0], counts[-1]
        progress.warn(
            f'train: {many:,} examples are "{most}" and only {few:,} "{least}", so accuracy hides how well that one '
            f"is told; look at macro F1, and add examples of it."
        )
    for texts, labels in list(contradictions(sets.train).items())[:1]:
        start = texts[0] if len(texts[0]) <= 60 else f"{texts[0][:60]}…"
        progress.warn(
            f"train: {sets.reports['train'].contradictory:,} texts occur with different labels, such as "
            f'"{start}" as {" and as ".join(labels)}; no model can learn both.'
        )


def encode(examples: Sequence[Example], bundle: Bundle, progress: Progress = SILENT) -> EncodedExamples:
    """Return examples as a model of the tasks reads them."""
    tokenizer, limit = bundle.tokenizers["tokenizer"], int(bundle.facts["max_length"])
    choices = [each for each in examples if isinstance(each, Choice)]
    if bundle.task == "choose":
        return encode_choices(choices, tokenizer, limit, progress)
    labelled = [each for each in examples if isinstance(each, Labelled)]
    numbers = {label: number for number, label in enumerate(bundle.facts["labels"])}
    both_orders = bundle.facts["pairs"] == "both-orders"
    texts, labels = [each.texts for each in labelled], [numbers[each.label] for each in labelled]
    return encode_texts(texts, labels, tokenizer, limit, both_orders, progress)


def example_files(data: ExampleData[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file the examples come from."""
    places = [data.train, *([data.valid] if data.valid else []), *data.test.values()]
    return {place.path: fingerprint(Path(place.path))["sha256"] for place in places if Path(place.path).is_file()}

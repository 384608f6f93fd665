"""Scores, intervals and comparisons as plain values; no computation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

Part = str | tuple[Sequence[str], Sequence[Sequence[str]], Sequence[int]]
"""A line of a report, or a table: header, rows, and the columns that are aligned to the right."""
LEVEL = 0.05
"""Significance level: the p-value below which a difference is significant."""


class Interval(NamedTuple):
    """A 95% confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """One metric of a set, and how it was computed (for translation: sacrebleu's signature)."""

    name: str
    value: float
    signature: str
    key: str = ""
    """The key of its metric."""


@dataclass(frozen=True)
class ComparedMetric:
    """A metric that two systems are compared by."""

    key: str
    label: str
    format: str = ".2f"
    best: Literal["max", "min"] = "max"
    signature: str = ""


@dataclass(frozen=True)
class Difference:
    """One metric of two systems on the same examples."""

    metric: ComparedMetric
    first: float
    first_interval: Interval
    second: float
    second_interval: Interval
    interval: Interval
    """95% interval of the first minus the second."""
    p: float
    """Two-sided p-value of the difference."""

    @property
    def value(self) -> float:
        """The first minus the second."""
        return self.first - self.second

    @property
    def is_significant(self) -> bool:
        """True if the p-value is below the level and the interval excludes 0; on few examples the two differ."""
        low, high = self.interval
        return self.p < LEVEL and not low <= 0 <= high

    @property
    def first_is_better(self) -> bool:
        """True if the difference favors the first system."""
        return self.value < 0 if self.metric.best == "min" else self.value > 0

    def cells(self) -> Iterator[str]:
        """Yield both values and their difference, each with its interval."""
        shown = self.metric.format
        values = ((self.first, self.first_interval), (self.second, self.second_interval), (self.value, self.interval))
        for value, (low, high) in values:
            yield f"{value:{shown}} [{low:{shown}}, {high:{shown}}]"


@dataclass(frozen=True)
class Comparison:
    """One set, two systems: paired differences."""

    set: str
    first: str
    second: str
    resamples: int
    seed: int
    differences: tuple[Difference, ...]
    decoding: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """The decoding settings in which the two differ, where both are recorded."""
    left_out: tuple[str, ...] = ()
    """Sentences on metrics that were computed differently, and so are not compared."""

    def words(self) -> list[str]:
        """Return the verdict, a sentence for each metric, and the decoding settings that differ."""
        sentences = [self._sentence(difference) for difference in self.differences]
        if self.decoding:
            changed = ", ".join(f"{name} {one} and {other}" for name, (one, other) in self.decoding.items())
            sentences.append(f"Their decoding differs too: {changed}.")
        return [*sentences, *self.left_out]

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return a header, and a row for each metric."""
        header = ("metric", "first [95 %]", "second [95 %]", "difference [95 %]", "p")
        return header, [(each.metric.label, *each.cells(), f"{each.p:.4f}") for each in self.differences]

    def parts(self) -> list[Part]:
        """Return both systems side by side, and the verdict under the table."""
        last = f"Paired bootstrap, two-sided, {self.resamples:,} resamples, seed {self.seed}."
        title = f"\n{self.set}: {self.first} against {self.second}"
        return [title, (*self.table(), range(1, 5)), *self.words(), last]

    def _sentence(self, each: Difference) -> str:
        shown = each.metric.format
        low, high = each.interval
        numbers = (
            f"difference {each.value:+{shown}}, 95 % interval {low:+{shown}} to {high:+{shown}}, p = {each.p:.3f}"
        )
        if not each.is_significant:
            return (
                f"{each.metric.label}: no significant difference between {self.first} and {self.second} ({numbers})."
            )
        better, worse = (self.first, self.second) if each.first_is_better else (self.second, self.first)
        return f"{each.metric.label}: {better} is better than {worse} ({numbers})."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the sentences included."""
        rows = [
            asdict(each) | {"value": each.value, "is_significant": each.is_significant} for each in self.differences
        ]
        return asdict(self) | {"differences": rows, "words": self.words()}

"""Comparison of two systems on the same set: paired differences with intervals and p-values."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.metrics.bootstrap import RESAMPLES, SEED
from regard.metrics.significance import Difference
from regard.runs.scores.passport import Passport, read_passport


@dataclass(frozen=True)
class Comparison:
    """One set, two systems."""

    set: str
    first: str
    second: str
    resamples: int
    seed: int
    differences: tuple[Difference, ...]
    decoding: dict[str, tuple[Any, Any]]
    """The decoding settings in which the two differ, where both are recorded."""

    def words(self) -> list[str]:
        """Return the verdict, a sentence for each metric, and the decoding settings that differ."""
        sentences = [self._sentence(difference) for difference in self.differences]
        if self.decoding:
            changed = ", ".join(f"{name} {one} and {other}" for name, (one, other) in self.decoding.items())
            sentences.append(f"Their decoding differs too: {changed}.")
        return sentences

    def _sentence(self, each: Difference) -> str:
        low, high = each.interval
        numbers = f"difference {each.value:+.2f}, 95 % interval {low:+.2f} to {high:+.2f}, p = {each.p:.3f}"
        if not each.is_significant:
            return f"{each.name}: no significant difference between {self.first} and {self.second} ({numbers})."
        better, worse = (self.first, self.second) if each.first_is_better else (self.second, self.first)
        return f"{each.name}: {better} is better than {worse} ({numbers})."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the sentences included."""
        rows = [
            asdict(each) | {"value": each.value, "is_significant": each.is_significant} for each in self.differences
        ]
        return asdict(self) | {"differences": rows, "words": self.words()}


Differences = Callable[[Sequence[Sequence[str]]], tuple[Difference, ...]]
"""From two lists of outputs to the paired tests of a task's metrics."""


def compare(
    first: Passport | str | Path, second: Passport | str | Path, examples: int, differences: Differences
) -> Comparison:
    """Compare two passports (or their files) on a set with that number of examples.

    Passports of different sets, or with scores that were computed differently, are refused.
    """
    one, other = (each if isinstance(each, Passport) else read_passport(Path(each)) for each in (first, second))
    check_comparable(one, other)
    for each in (one, other):
        if len(each.outputs) != examples:
            raise DataError(
                f"{each.origin} has {len(each.outputs):,} outputs, but {one.record.set} {examples:,} examples; "
                f"evaluate it again."
            )
    decode, others = one.record.decode, other.record.decode
    changed = {
        name: (decode[name], others[name]) for name in decode if name in others and decode[name] != others[name]
    }
    tests = differences((one.outputs, other.outputs))
    return Comparison(one.record.set, one.origin, other.origin, RESAMPLES, SEED, tests, changed)


def check_comparable(first: Passport, second: Passport) -> None:
    """Refuse two passports whose metrics are not of the same thing."""
    check_same_set(first.origin, first.record.test_set.model_dump(), second)
    for name, signature in first.signatures.items():
        if second.signatures.get(name) != signature:
            raise DataError(
                f"{first.origin} and {second.origin} cannot be compared: {name} was computed as {signature} and as "
                f"{second.signatures.get(name)}; evaluate both with the same version."
            )


def check_same_set(origin: str, hashes: dict[str, Any], other: Passport) -> None:
    """Refuse a passport of another test set."""
    second = other.record.test_set
    sides = {
        "sources": (str(hashes["sources"]), second.sources),
        "references": (" ".join(sorted(hashes["references"])), " ".join(sorted(second.references))),
    }
    for side, (here, there) in sides.items():
        if here != there:
            raise DataError(
                f"{origin} and {other.origin} cannot be compared: the {side} of their test sets differ "
                f"(SHA-256 {here[:12]} and {there[:12]}); evaluate both on the same set."
            )

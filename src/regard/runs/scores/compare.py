"""Two systems on the same sentences: whether they differ, by how much, and how sure that is."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.metrics.bootstrap import RESAMPLES, SEED
from regard.metrics.significance import Difference, paired_bootstrap
from regard.progress import SILENT, Progress
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
    """The decoding settings in which the two differ, where both are known."""

    def words(self) -> list[str]:
        """Say it, one sentence a metric, and what else was different."""
        said = [self._sentence(difference) for difference in self.differences]
        if self.decoding:
            changed = ", ".join(f"{name} {one} and {other}" for name, (one, other) in self.decoding.items())
            said.append(f"Their decoding differs too: {changed}.")
        return said

    def _sentence(self, found: Difference) -> str:
        low, high = found.interval
        figures = f"difference {found.value:+.2f}, 95 % interval {low:+.2f} to {high:+.2f}, p = {found.p:.3f}"
        if not found.is_significant:
            return f"{found.name}: {self.first} and {self.second} cannot be told apart ({figures})."
        better, worse = (self.first, self.second) if found.first_is_better else (self.second, self.first)
        return f"{found.name}: {better} is better than {worse} ({figures})."

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, the sentences included."""
        rows = [
            asdict(found) | {"value": found.value, "is_significant": found.is_significant}
            for found in self.differences
        ]
        return asdict(self) | {"differences": rows, "words": self.words()}


def compare(
    first: Passport | str | Path,
    second: Passport | str | Path,
    references: Sequence[Sequence[str]],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare two passports (or the files they are in) by paired bootstrap against the references of their set.

    `references` holds all references of each sentence. Passports of different sets, or with scores that were
    computed differently, are refused.
    """
    one, other = (each if isinstance(each, Passport) else read_passport(Path(each)) for each in (first, second))
    check_comparable(one, other)
    for each in (one, other):
        if len(each.hypotheses) != len(references):
            raise DataError(
                f"{each.origin} has {len(each.hypotheses):,} hypotheses, but {one.facts['set']} {len(references):,} "
                f"sentences; evaluate it again."
            )
    found = paired_bootstrap(
        one.hypotheses, other.hypotheses, references, list(one.signatures), resamples, seed, progress
    )
    mine, its = one.facts.get("decode", {}), other.facts.get("decode", {})
    decoding = {name: (mine[name], its[name]) for name in mine if name in its and mine[name] != its[name]}
    return Comparison(one.facts["set"], one.origin, other.origin, resamples, seed, tuple(found), decoding)


def check_comparable(first: Passport, second: Passport) -> None:
    """Refuse two passports whose figures do not speak of the same thing."""
    check_same_set(first.origin, first.facts["test_set"], second)
    for name, signature in first.signatures.items():
        if second.signatures.get(name) != signature:
            raise DataError(
                f"{first.origin} and {second.origin} cannot be compared: {name} was computed as {signature} and as "
                f"{second.signatures.get(name)}; evaluate both with the same version."
            )


def check_same_set(origin: str, test_set: dict[str, Any], other: Passport) -> None:
    """Refuse a passport of another test set."""
    theirs = other.facts["test_set"]
    pairs = {
        "sources": (test_set["sources"], theirs["sources"]),
        "references": (" ".join(sorted(test_set["references"])), " ".join(sorted(theirs["references"]))),
    }
    for side, (mine, its) in pairs.items():
        if mine != its:
            raise DataError(
                f"{origin} and {other.origin} cannot be compared: the {side} of their test sets differ "
                f"(SHA-256 {mine[:12]} and {its[:12]}); evaluate both on the same set."
            )

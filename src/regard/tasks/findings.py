"""Findings of the checks: each has a severity, a sentence, examples and a remedy."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from regard.data.sources.pair import Pair

Severity = Literal["ok", "note", "warning", "problem"]
SEVERITIES: tuple[Severity, ...] = ("ok", "note", "warning", "problem")

STYLES: Mapping[Severity, str] = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}
"""The color of a severity where findings are shown."""

SHOWN = 70
"""Maximum number of characters of a text in an example."""


@dataclass(frozen=True)
class Finding:
    """One result of a check."""

    check: str
    """The kind of check, such as `splits`."""
    name: str
    """Its subject, the same in every report: `leaked-pairs`."""
    severity: Severity
    sentence: str
    examples: tuple[str, ...] = ()
    remedy: str = ""
    """The remedy in words; with `settings` where settings are the remedy."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that remedy it, by dotted name."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The measured numbers, for programs."""

    @property
    def way_out(self) -> str:
        """The remedy with its settings as key=value, or nothing."""
        words = " ".join(f"{name}={_spelled(value)}" for name, value in self.settings.items())
        return ": ".join(part for part in (self.remedy, words) if part)


@dataclass(frozen=True)
class Report:
    """All findings about a run, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def severity(self) -> Severity:
        """The worst severity of all findings."""
        return max((finding.severity for finding in self.findings), key=SEVERITIES.index, default="ok")

    @property
    def has_problem(self) -> bool:
        """True where a finding is a problem, and the run should not start as it is."""
        return self.severity == "problem"

    def of(self, *severities: Severity) -> list[Finding]:
        """Return the findings of these severities."""
        return [finding for finding in self.findings if finding.severity in severities]

    def find(self, name: str) -> list[Finding]:
        """Return the findings of that name."""
        return [finding for finding in self.findings if finding.name == name]

    def styled_lines(self) -> Iterator[tuple[tuple[str, str], ...]]:
        """Yield lines as texts with their styles: the findings by kind, with examples and remedies, and a summary."""
        kind = None
        for each in self.findings:
            if each.check != kind:
                yield ((each.check, "bold"),)
                kind = each.check
            yield (f"  {each.severity:8}", STYLES[each.severity]), (each.sentence, "")
            yield from (((f"            {example}", "dim"),) for example in each.examples)
            if each.way_out:
                yield ((f"          → {each.way_out}", ""),)
        counts = [(len(self.of(severity)), severity) for severity in reversed(SEVERITIES[1:])]
        parts = [f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count]
        yield ((f"{', '.join(parts)}." if parts else "No problems.", STYLES[self.severity]),)


def graded(value: float, note: float, warning: float, problem: float = float("inf")) -> Severity:
    """Return the severity of a value: each bound is the smallest value of its severity."""
    if value >= problem:
        return "problem"
    if value >= warning:
        return "warning"
    return "note" if value >= note else "ok"


def shown(text: str) -> str:
    """Return a text in quotation marks, truncated to `SHOWN` characters."""
    return f'"{text}"' if len(text) <= SHOWN else f'"{text[: SHOWN - 1]}…"'


def shown_pair(pair: Pair, row: int | None = None) -> str:
    """Return a pair as an example; `row` counts from 0 and is printed from 1."""
    position = "" if row is None else f"pair {row + 1:,}: "
    return f"{position}{shown(pair.source)} / {shown(pair.target)}"


def some(examples: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return at most `most` examples."""
    return tuple(example for example, _ in zip(examples, range(most)))


def percent(part: float, whole: float) -> str:
    """Return a fraction in percent, in words where it is tiny."""
    value = 100 * part / whole if whole else 0.0
    return f"{value:.1f} %" if value >= 0.1 or part == 0 else "under 0.1 %"


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)

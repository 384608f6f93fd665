"""Findings, their severities and their examples."""

import pytest

from regard.data.sources.pair import Pair
from regard.tasks.findings import Finding, Report, graded, percent, shown, shown_pair, some


def test_a_remedy_is_spelled_as_on_the_command_line():
    settings = {"a.b": True, "c": 0.01, "d": 5, "e": "bpe"}
    assert Finding("x", "y", "note", "z", (), "do", settings).way_out == "do: a.b=true c=0.01 d=5 e=bpe"
    assert Finding("x", "y", "note", "z", (), "do").way_out == "do"
    assert Finding("x", "y", "ok", "z").way_out == ""


def test_a_report_is_as_bad_as_its_worst_finding():
    findings = tuple(Finding("x", severity, severity, "z") for severity in ("ok", "warning", "note"))
    report = Report(findings)
    assert report.severity == "warning" and not report.has_problem and Report(()).severity == "ok"
    assert Report((*findings, Finding("x", "y", "problem", "z"))).has_problem
    assert report.of("note", "ok") == [findings[0], findings[2]] and report.find("note") == [findings[2]]
    assert report.find("nothing") == []


@pytest.mark.parametrize(
    ("value", "severity"), [(0.0, "ok"), (0.1, "note"), (0.49, "note"), (0.5, "warning"), (0.9, "problem")]
)
def test_each_bound_is_the_smallest_value_of_its_severity(value, severity):
    assert graded(value, note=0.1, warning=0.5, problem=0.9) == severity


def test_without_a_bound_nothing_is_a_problem():
    assert graded(1e9, note=0.0, warning=1.0) == "warning"


def test_long_texts_are_truncated_and_pairs_counted_from_one():
    assert shown("x" * 70) == f'"{"x" * 70}"' and shown("x" * 71) == f'"{"x" * 69}…"'
    assert shown_pair(Pair("a", "b"), 1233) == 'pair 1,234: "a" / "b"' and shown_pair(Pair("a", "b")) == '"a" / "b"'


def test_only_as_many_examples_are_made_as_are_shown():
    made = []
    examples = (made.append(number) or str(number) for number in range(100))
    assert some(examples) == ("0", "1", "2") and len(made) <= 4
    assert some([]) == ()


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 8, "12.5 %"), (0, 8, "0.0 %"), (1, 100_000, "under 0.1 %"), (3, 0, "under 0.1 %"), (0, 0, "0.0 %")],
)
def test_percentages(part, whole, text):
    assert percent(part, whole) == text

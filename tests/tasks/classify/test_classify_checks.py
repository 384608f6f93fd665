"""Checks of labeled texts: shared texts, and lists of labels."""

from regard.data.sources.labeled import LabeledRow, label_list
from regard.tasks.classify.checks import classify_checks, label_findings, leaked_texts
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.data import ExampleReport, ExampleSets


def row(text, *labels):
    return LabeledRow((text,), label_list(labels), tuple(labels))


def sets(train, valid=(), **tests):
    reports = {"train": ExampleReport(), "valid": ExampleReport()} | {
        f"test {name}": ExampleReport() for name in tests
    }
    made = ExampleSets(list(train), list(valid), tests, reports, ["a", "b"])
    for name, rows in made.sets.items():
        reports[name].labels = TASK.label_counts(rows)
    return made


def by_name(findings):
    return {each.name: each for each in findings}


def test_texts_of_other_sets_that_are_trained_on_are_counted():
    train = [LabeledRow((str(number),), "a") for number in range(10)]
    (leak,) = leaked_texts(sets(train, [LabeledRow(("x",), "a")], new=[train[0], LabeledRow(("y",), "b")]))
    assert leak.name == "leaked-texts" and leak.severity == "problem" and leak.examples == ('"0"',)
    assert leak.sentence.startswith("1 of the 2 texts of test new are training texts too")
    assert not list(leaked_texts(sets(train, [LabeledRow(("x",), "a")])))


def test_lists_of_one_label_each_are_warned_of():
    train = [row(str(number), "a") for number in range(10)] + [row("x", "b")]
    found = by_name(label_findings(sets(train, [row("y", "a")])))
    assert found["one-label"].severity == "warning"
    assert found["unvalidated-labels"].examples == ("b",)
    assert found["unlabeled-texts"].severity == "ok"


def test_sets_that_are_mostly_without_labels_are_noted():
    train = [row(str(number)) for number in range(19)] + [row("x", "a", "b")]
    found = by_name(label_findings(sets(train, [row("y", "a", "b")])))
    assert found["unlabeled-texts"].severity == "warning" and "95.0 %" in found["unlabeled-texts"].sentence
    assert "one-label" not in found and "unvalidated-labels" not in found


def test_one_label_a_text_has_no_findings_about_lists():
    train = [LabeledRow(("x",), "a"), LabeledRow(("y",), "b")]
    assert not list(label_findings(sets(train)))
    splits, labels = classify_checks()
    assert not splits.quick(sets(train)) and not labels.run(sets(train)) and not splits.run(sets(train))

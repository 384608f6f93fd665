"""Checks of the numbers of examples: few of them, few of a label, and validation that measures nothing."""

from collections import Counter

from labeled import reviews, write_reviews
from regard.data.sources.squad import GoldAnswer, QuestionRow
from regard.studies.doctor.examine import doctor
from regard.tasks.contract import find_task
from regard.tasks.finetune.checks import example_findings, quick_findings
from regard.tasks.finetune.data import ExampleReport, ExampleSets, contradictions


def sets(train, valid):
    reports = {"train": ExampleReport(labels=Counter(train)), "valid": ExampleReport(labels=Counter(valid))}
    return ExampleSets(list(train), list(valid), {}, reports, sorted({*train}))


def severities(findings):
    return {each.name: each.severity for each in findings if each.severity != "ok"}


def test_three_rows_with_three_labels_are_not_well():
    data = sets(["a", "b", "c"], ["c"])
    assert severities(example_findings(data)) == {
        "examples": "warning",
        "rare-labels": "warning",
        "one-label": "warning",
        "validation": "warning",
    }
    sentences = [each.sentence for each in example_findings(data)]
    assert sentences[0] == "There are only 3 training examples, too few to learn from."
    assert sentences[1] == (
        "3 of 3 labels have fewer than 8 training examples (100.0 % of all), so they are hardly learned."
    )


def test_a_validation_set_with_one_label_is_named():
    (finding,) = (each for each in quick_findings(sets(["a", "b"] * 300, ["a"] * 250)) if each.severity != "ok")
    assert finding.sentence == (
        'All 250 validation examples have the label "a", so a constant prediction is correct on all of them.'
    )


def test_enough_examples_of_every_label_are_well():
    assert severities(example_findings(sets(["a", "b"] * 300, ["a", "b"] * 100))) == {}
    assert severities(example_findings(sets(["a"] * 590 + ["b"] * 4, ["a", "b"] * 100))) == {"rare-labels": "note"}
    numbers = ExampleSets([1.0] * 600, [1.0] * 300, {}, {"train": ExampleReport(), "valid": ExampleReport()}, [])
    assert severities(example_findings(numbers)) == {}


def test_the_doctor_lists_them(tmp_path):
    valid = tmp_path / "valid.csv"
    valid.write_text("text,label\n" + "".join(f'"{text}",kind\n' for text, label in reviews(80) if label == "kind"))
    source = {"data.train.path": str(write_reviews(tmp_path / "a.csv", 200)), "data.valid.path": str(valid)}
    names = [each.name for each in doctor("classify", source, quick=True).of("warning")]
    assert names == ["one-label"]


def test_answers_that_overlap_are_no_contradiction():
    def asked(*answers):
        return QuestionRow("q1", "Where?", "In Rome, Italy.", tuple(GoldAnswer(each, 3) for each in answers))

    task = find_task("answer")
    assert contradictions([asked("Rome", "Rome, Italy"), asked("Rome")], task) == {}
    assert len(contradictions([asked("Rome"), asked("Italy")], task)) == 1
    assert len(contradictions([asked("Rome"), asked()], task)) == 1

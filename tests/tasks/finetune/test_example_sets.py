"""Reading, splitting and counting of examples."""

import csv
import hashlib
from pathlib import Path

import pytest

from labeled import Telling, reviews
from regard.data.settings.examples import ExampleData, LabelSource
from regard.errors import DataError
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.data import (
    ExampleReport,
    contradictions,
    example_files,
    gather_examples,
    read_set,
    report_counts,
    warn_of_labels,
    warn_of_truncation,
)


def source(tmp_path, rows, name="a.csv") -> LabelSource:
    with (tmp_path / name).open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return LabelSource(path=str(tmp_path / name))


def test_held_out_examples_share_no_text_with_the_training_set(tmp_path):
    rows = [(f"text {number // 2}", "ab"[number % 2]) for number in range(200)]  # every text twice
    sets = gather_examples(TASK, ExampleData[LabelSource](train=source(tmp_path, rows)), Telling())
    train, valid = ({each.texts for each in examples} for examples in (sets.train, sets.valid))
    assert valid and not train & valid and len(sets.train) + len(sets.valid) == 200
    assert sets.reports["train"].held_out == sets.reports["valid"].read == len(sets.valid)
    assert sets.reports["train"].kept == len(sets.train) and sets.reports["valid"].kept == len(sets.valid)


def test_every_set_is_counted_under_its_name(tmp_path):
    train = source(tmp_path, [("one", "a"), ("one", "a"), ("one", "b"), ("two", "b"), ("", "a"), ("three", "")])
    other = source(tmp_path, [("four", "a")], "b.csv")
    data = ExampleData[LabelSource](train=train, valid=other, test={"new": other})
    sets = gather_examples(TASK, data, Telling())
    assert sets.labels == ["a", "b"] and list(sets.sets) == ["train", "valid", "test new"] == list(sets.reports)
    counts = sets.reports["train"].plain()
    assert counts["read"] == 6 and counts["kept"] == 4 and counts["dropped"] == {"empty": 1, "without a label": 1}
    assert counts["labels"] == {"a": 2, "b": 2} and counts["contradictory"] == 1 and counts["duplicates"] == 1
    progress = Telling()
    report_counts(TASK, sets, progress)
    assert progress.said[0] == "train: 4 of 6 examples kept; dropped: 1 empty, 1 without a label."
    assert gather_examples(TASK, data, Telling(), labels=["a", "b", "c"]).labels == ["a", "b", "c"]


def test_a_set_without_an_example_is_refused(tmp_path):
    empty = source(tmp_path, [("", "a")])
    with pytest.raises(DataError) as error:
        read_set(TASK, empty, ExampleReport(), Telling())
    assert str(error.value) == f"{empty.path}: no example has both a text and a label."


def test_contradictions_are_texts_with_several_labels(tmp_path):
    rows = read_set(
        TASK, source(tmp_path, [("x", "b"), ("x", "a"), ("y", "a"), ("y", "a")]), ExampleReport(), Telling()
    )
    assert contradictions(rows, TASK) == {("x",): ["a", "b"]}


@pytest.mark.parametrize(("many", "is_warned"), [(9, False), (10, True)])
def test_labels_are_imbalanced_from_ten_to_one(tmp_path, many, is_warned):
    rows = [(f"{number}", "a") for number in range(many)] + [("rare", "b")]
    data = ExampleData[LabelSource](train=source(tmp_path, rows), valid=source(tmp_path, [("x", "a")], "b.csv"))
    progress = Telling()
    warn_of_labels(TASK, gather_examples(TASK, data, Telling()), progress)
    assert [each.startswith('train: 10 examples are "a" and only 1 "b"') for each in progress.warned] == (
        [True] if is_warned else []
    )


def test_truncated_examples_are_reported_for_each_set(tmp_path):
    train = source(tmp_path, reviews(6))
    sets = gather_examples(
        TASK, ExampleData[LabelSource](train=train, valid=source(tmp_path, reviews(6, 1), "b.csv")), Telling()
    )
    sets.reports["valid"].truncated = 2
    progress = Telling()
    warn_of_truncation(TASK, sets, 1024, progress)
    assert progress.warned == [
        "valid: 2 of 6 examples are longer than 1,024 tokens (max_length), and the end of each is left out."
    ]


def test_every_file_has_its_hash(tmp_path):
    train, valid = source(tmp_path, reviews(4)), source(tmp_path, reviews(5), "b.csv")
    data = ExampleData[LabelSource](train=train, valid=valid, test={"x": LabelSource(path="miniature:test")})
    expected = {each.path: hashlib.sha256(Path(each.path).read_bytes()).hexdigest() for each in (train, valid)}
    assert example_files(data) == expected

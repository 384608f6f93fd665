"""What fine-tuning tasks share: errors, hashes of sets, score tables, defaults."""

import csv

from head_bundles import head_bundle
from labeled import reviews
from regard.data.settings.examples import LabelSource
from regard.data.sources.labeled import LabeledRow
from regard.models.families import family
from regard.progress import SILENT
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.classify.task import TASK
from regard.tasks.data import EvalSet
from regard.tasks.declarations import EvaluateOptions, LoadOptions
from regard.tasks.finetune.base import HeadTask
from regard.tasks.finetune.predictions import ErrorExample, Predictions
from regard.tasks.finetune.settings import TRAIN
from run_records import evaluated

ROWS = [LabeledRow((text,), label) for text, label in (("one", "a"), ("two", "b"), ("three", "a"), ("four", "b"))]


def test_errors_are_the_most_confident_wrong_predictions():
    predictions = Predictions(["a", "a", "b", "a"], [0.99, 0.6, 0.8, 0.7], 0.0)
    assert TASK.errors(ROWS, predictions, 2) == [
        ErrorExample(["three"], "a", "b", 0.8),
        ErrorExample(["four"], "b", "a", 0.7),
    ]
    assert (
        len(TASK.errors(ROWS, predictions, 9)) == 3 and TASK.errors(ROWS[:1], Predictions(["a"], [1.0], 0.0), 9) == []
    )


def test_hashes_distinguish_texts_from_labels():
    hashes = TASK.set_hashes(EvalSet("x", ROWS))
    relabeled = TASK.set_hashes(EvalSet("x", [ROWS[0]._replace(label="b"), *ROWS[1:]]))
    assert hashes["sources"] == relabeled["sources"] and hashes["references"] != relabeled["references"]
    other = TASK.set_hashes(EvalSet("x", [ROWS[0]._replace(texts=("x",)), *ROWS[1:]]))
    assert other["sources"] != hashes["sources"] and other["references"] == hashes["references"]


def test_score_lines_show_the_layer_weights_of_an_elmo():
    assert TASK.score_lines({"test": {}}) == []
    assert TASK.score_lines({"test": {"mix": {"layer 1": 0.25, "scale": 1.5}}}) == [
        "learned weights of the layers: layer 1 0.250, scale 1.500"
    ]


def test_the_metrics_of_each_label_are_a_table():
    classes = [{"label": "a", "count": 1200, "precision": 0.5, "recall": 1.0, "f1": 2 / 3}]
    (table,) = TASK.score_tables("test", evaluated(classes=classes, errors=[]))
    assert table.rows == [("a", "1,200", "0.5000", "1.0000", "0.6667")] and table.title == "test by label"
    assert TASK.score_tables("test", evaluated(errors=[])) == []


def test_checkpoints_are_selected_by_the_first_validated_metric():
    settings = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv"}).settings
    train = settings.train.model_dump()
    assert settings.model.preset == "gpt-tiny" and train["select_by"] == "accuracy"
    assert {name: train[name] for name in TRAIN} == TRAIN | {"betas": tuple(TRAIN["betas"])}
    assert TASK.settings(family("bert").settings).model_fields["task"].default == "classify"


def test_a_source_is_one_set_that_is_evaluated(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((text, "ab"[len(text) % 2]) for text, _ in reviews(12))])
    pipeline = TASK.pipeline(head_bundle("classify"), LoadOptions())
    source = LabelSource(path=str(tmp_path / "a.csv"))
    sets = TASK.eval_sets(pipeline, source, None, tmp_path, SILENT)
    assert list(sets) == [source.path] and len(sets[source.path].rows) == 12
    evaluation = TASK.evaluate(pipeline, sets[source.path], EvaluateOptions())
    assert list(evaluation.outputs) == [
        each.label for each in pipeline([row.texts[0] for row in sets[source.path].rows])
    ]


def test_the_head_has_an_output_for_each_label():
    facts = TASK.read_facts(head_bundle("classify"))
    head = TASK.head_settings(facts, 0.2, "mean")
    assert (head.kind, head.outputs, head.dropout, head.pooling) == ("classification", 3, 0.2, "mean")
    assert isinstance(TASK, HeadTask)

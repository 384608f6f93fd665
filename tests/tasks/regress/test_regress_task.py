"""The task regress: units, predictions and metrics."""

from dataclasses import replace

import numpy as np
import pytest

from head_bundles import TEXTS, head_bundle
from regard.data.sources.labeled import LabeledRow
from regard.errors import DataError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.finetune.predictions import ErrorExample, Predictions
from regard.tasks.regress.task import TASK

ROWS = [LabeledRow((text,), label) for text, label in zip(TEXTS, ("2", "4", "9", "5"))]
PAIRS = [LabeledRow((text, "x"), label) for text, label in zip(TEXTS, ("2", "4", "9", "5"))]


def settings(**changes):
    return resolve_run(find_recipe("regress"), {"data.train.path": "a.csv"} | changes).settings


def test_numbers_are_in_standard_deviations_from_the_mean():
    facts = TASK.learn(settings(), ROWS, [], None)
    assert facts == {"texts": 1, "pair_encoding": "cross-encoder", "center": 5.0, "spread": pytest.approx(6.5**0.5)}


def test_the_cosine_of_a_bi_encoder_covers_the_range():
    pretrained = replace(head_bundle("regress"), facts={"embed": {"pooling": "mean"}})
    for facts in (
        TASK.learn(settings(pair_encoding="bi-encoder"), PAIRS, [], None),
        TASK.learn(settings(), PAIRS, [], pretrained),
    ):
        assert facts == {"texts": 2, "pair_encoding": "bi-encoder", "center": 2.0, "spread": 7.0}
    assert TASK.learn(settings(), ROWS, [], pretrained)["pair_encoding"] == "cross-encoder"
    bundle = head_bundle("regress", texts=2, pair_encoding="bi-encoder")
    assert TASK.head_settings(TASK.read_facts(bundle), 0.1, "token").kind == "similarity"


def test_equal_numbers_are_refused():
    with pytest.raises(DataError, match="a.csv: every example has the number 2, so there is nothing to predict"):
        TASK.learn(settings(), ROWS[:1] * 3, [], None)


def test_predictions_invert_the_encoding_of_labels():
    bundle = head_bundle("regress", center=5.0, spread=2.0)
    encoded = TASK.encode(ROWS, bundle)
    assert encoded.labels.tolist() == [-1.5, -0.5, 2.0, 0.0]
    predictions = TASK.predictions(
        ROWS, encoded, [np.array(each) for each in encoded.labels], TASK.read_facts(bundle)
    )
    assert [float(line) for line in predictions.lines] == [2.0, 4.0, 9.0, 5.0] and predictions.loss == 0.0


def test_metrics_are_those_of_the_bootstrap_with_every_example_once():
    facts, lines = TASK.read_facts(head_bundle("regress")), ["1.0", "3.0", "7.0", "5.5"]
    metrics = TASK.compute_metrics(ROWS, Predictions(lines, [], 0.0), facts)
    assert metrics["spearman"] == pytest.approx(1.0) and metrics["mean_absolute_error"] == (1 + 1 + 2 + 0.5) / 4
    for name, statistic in TASK.statistics_of(ROWS, lines, facts).items():
        assert statistic(np.ones(4)) == pytest.approx(metrics[name])


def test_the_largest_errors_come_first():
    errors = TASK.errors(ROWS, Predictions(["2", "4.5", "5", "7"], [], 0.0), 2)
    assert errors == [ErrorExample([TEXTS[2]], "9", "5", None), ErrorExample([TEXTS[3]], "5", "7", None)]
    assert not TASK.label_counts(ROWS)

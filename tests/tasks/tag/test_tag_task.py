"""The task tag: tags, predictions and metrics of spans and of words."""

import numpy as np
import pytest
import torch

from head_bundles import TEXTS, head_bundle
from regard.data.sources.tagged_tables import TaggedRow
from regard.errors import DataError
from regard.tasks.finetune.predictions import Predictions
from regard.tasks.tag.pipeline import Tagger
from regard.tasks.tag.task import TASK

ROWS = [
    TaggedRow(("anna", "likes", "new", "rome"), ("B-X", "O", "B-X", "I-X")),
    TaggedRow(("oslo", "sleeps"), ("B-X", "O")),
]
WORDS = [TaggedRow(("a", "dog"), ("DET", "NOUN")), TaggedRow(("dogs",), ("NOUN",))]


def test_a_kind_of_span_has_both_tags():
    assert TASK.labels([TaggedRow(("a", "b"), ("O", "I-Z")), ROWS[1]], "x") == ["O", "B-X", "I-X", "B-Z", "I-Z"]
    assert TASK.labels(WORDS, "x") == ["DET", "NOUN"]
    with pytest.raises(DataError) as error:
        TASK.labels([TaggedRow(("a", "b"), ("O", "O"))], "a.conll")
    assert str(error.value) == (
        'a.conll: every word has the tag "O", so there is nothing to distinguish; give others.'
    )


def test_spans_are_counted_by_kind_and_words_by_tag():
    assert TASK.label_counts(ROWS) == {"X": 3} and TASK.label_counts(WORDS) == {"DET": 1, "NOUN": 2}


def test_predictions_join_the_chunks_of_a_sentence():
    bundle = head_bundle("tag", labels=["N", "V"], max_length=12)
    rows = [TaggedRow(words, ("N",) * len(words)) for words in (tuple(text.split()) for text in TEXTS[:3])]
    encoded, tagger = TASK.encode(rows, bundle), Tagger(bundle)
    assert encoded.is_truncated.any() and len(encoded) > len(rows)
    predictions = TASK.predict(bundle, bundle.model, rows, encoded, torch.device("cpu"), 1000)
    for row, line, confidence in zip(rows, predictions.lines, predictions.confidence, strict=True):
        tagging = tagger({"words": row.words})
        assert tuple(line.split()) == tagging.tags
        assert confidence == pytest.approx(min(tagging.probabilities), abs=1e-5)


def test_spans_are_scored_where_tags_mark_them():
    facts = TASK.read_facts(head_bundle("tag"))
    lines = ["B-X O B-X O", "B-X O"]
    metrics = TASK.compute_metrics(ROWS, Predictions(lines, [1.0] * 2, 0.0), facts)
    assert (
        metrics["f1"] == pytest.approx(2 / 3)
        and metrics["spans"] == 3
        and metrics["accuracy"] == pytest.approx(5 / 6)
    )
    for name, statistic in TASK.statistics_of(ROWS, lines, facts).items():
        assert statistic(np.ones(2)) == pytest.approx(metrics[name])
    error = TASK.error(ROWS[0], lines[0], 0.5)
    assert (error.label, error.predicted) == ("anna (X); new rome (X)", "anna (X); new (X)")
    assert TASK.error(ROWS[1], "O O", 0.5).predicted == "-"


def test_words_are_scored_where_tags_mark_no_spans():
    facts = TASK.read_facts(head_bundle("tag", labels=["DET", "NOUN"]))
    metrics = TASK.compute_metrics(WORDS, Predictions(["DET DET", "NOUN"], [1.0] * 2, 0.0), facts)
    assert metrics["accuracy"] == pytest.approx(2 / 3) == metrics["f1"] and metrics["words"] == 3
    assert TASK.statistics_of(WORDS, ["DET DET", "NOUN"], facts)["accuracy"](np.array([0, 2])) == 1.0
    assert TASK.error(WORDS[0], "DET DET", 0.5).predicted == "DET DET"


def test_other_tags_are_refused():
    with pytest.raises(DataError, match='the label "B-Y" .once. does not occur in the training set'):
        TASK.check_rows("test", [TaggedRow(("a",), ("B-Y",))], TASK.read_facts(head_bundle("tag")))

"""The sections of a fine-tuned model's card on scores and data."""

from types import SimpleNamespace

from regard.runs.reports.scores import scores_section as run_scores
from regard.runs.store.folder import RunFolder
from regard.tasks.card import CardInput
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.card import SHOWN, data_section
from regard.tasks.finetune.records import ExampleReportRecord, describe_mix

SCORES = {
    "scores": [{"name": "accuracy %", "value": 75.0, "signature": "4 examples", "key": "accuracy"}],
    "decode": {},
    "examples": 4,
    "loss": 0.5,
    "test_set": {"sources": "0123456789abcdef", "references": ["r"]},
    "accuracy": 0.75,
    "majority_baseline": 0.5,
    "intervals": {"accuracy": [0.25, 1.0]},
    "classes": [{"label": each, "count": 2, "precision": 1.0, "recall": 0.5, "f1": 2 / 3} for each in ("a", "b|c")],
    "confusion": [[2, 0], [1, 1]],
    "errors": [{"texts": ["x" * 300], "label": "b|c", "predicted": "a", "probability": 0.875}],
}
COUNTS = {
    "read": 1200,
    "kept": 1100,
    "dropped": {"empty": 100},
    "held_out": 0,
    "labels": {"b": 600, "a": 500},
    "contradictory": 1,
    "duplicates": 2,
    "truncated": 3,
}


def card(tmp_path, scores=None, **report) -> CardInput:
    data = {"train": {"path": "train.csv"}, "test": {"new": {"path": "new.csv"}}}
    known = {"hash": "h", "train": COUNTS, "valid": COUNTS, "texts": 1} | report
    record = SimpleNamespace(
        scores=scores or {},
        report=ExampleReportRecord.model_validate(known),
        settings=SimpleNamespace(data=data),
    )
    return CardInput(tmp_path, record)


def scores_section(task, given) -> list[str]:
    return run_scores(RunFolder(given.path), task, given)


def test_scores_have_intervals_labels_and_errors(tmp_path):
    text = "\n".join(scores_section(TASK, card(tmp_path, {"new": SCORES})))
    assert r"| new | 4 | 0.5000 | 0.7500 \[0.2500, 1.0000\] | 0.5000 | `0123456789ab`, `r` |" in text
    assert "The majority baseline is the accuracy of the most frequent label" in text
    assert "| a | 2 | 1.0000 | 0.5000 | 0.6667 | 2 | 0 |" in text and "predicted a" in text
    assert f"| {'x' * SHOWN}… |" in text and "| a | 0.8750 |" in text
    assert "![Confusion matrix of new](confusion-new.png)" in text and (tmp_path / "confusion-new.png").exists()


def test_errors_without_probabilities_are_the_largest(tmp_path):
    errors = [{"texts": ["x"], "label": "3", "predicted": "1", "probability": None}]
    known = {name: value for name, value in SCORES.items() if name not in ("classes", "confusion")}
    text = "\n".join(scores_section(TASK, card(tmp_path, {"new": known | {"errors": errors}})))
    assert "### new, largest errors" in text and "| x | 3 | 1 |" in text and "by label" not in text


def test_the_layer_weights_of_an_elmo_are_listed(tmp_path):
    mix = {"layer 1": 0.25, "scale": 1.5}
    assert describe_mix(mix) == "layer 1 0.250, scale 1.500"
    lines = TASK.score_lines({"new": SCORES | {"mix": mix}})
    assert lines == ["learned weights of the layers: layer 1 0.250, scale 1.500"]


def test_a_run_without_scores_names_the_command(tmp_path):
    assert "regard evaluate" in scores_section(TASK, card(tmp_path))[-1]


def test_data_lists_sources_counts_and_extra_vectors(tmp_path):
    extra = {"path": "glove.txt", "sha256": "x", "words": 7000}
    text = "\n".join(data_section(card(tmp_path, **{"test new": COUNTS, "extra_vectors": extra})))
    counts = "| 1,200 | 1,100 | 100 empty | a 500, b 600 | 1 | 2 | 3 |"
    assert f"| train | `train.csv` {counts}" in text and f"| test new | `new.csv` {counts}" in text
    assert f"| valid | held out of train {counts}" in text
    assert "Extra word vectors of 7,000 words from `glove.txt`." in text
    assert "Extra word vectors" not in "\n".join(data_section(card(tmp_path)))

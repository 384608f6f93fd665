"""Multi-label classification: several labels a text, or none."""

import json
import random

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import regard
from commands import good, refused
from head_bundles import TEXTS, head_bundle
from labeled import Telling
from regard.data.sources.labeled import LabeledRow, label_list
from regard.errors import ConfigError, DataError
from regard.runs.planning.recipes import find_recipe
from regard.runs.verify import verify_resume
from regard.tasks.classify import multi_label
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.classify.settings import MULTI_LABEL
from regard.tasks.classify.task import TASK
from tuning import BERT

WORDS = {"sports": ("goal", "match", "team"), "politics": ("vote", "senate", "law"), "weather": ("rain", "sun")}
QUICK = {"train.steps": 6, "train.warmup": 1, "train.validate_every": 3, "preflight": False}


def row(text, *labels):
    return LabeledRow((text,), label_list(labels), tuple(sorted(labels)))


ROWS = [row(TEXTS[0], "a", "b"), row(TEXTS[1]), row(TEXTS[2], "c")]


def multi(**facts):
    return head_bundle("classify", problem_type=MULTI_LABEL, threshold=0.5, **facts)


def topics(count, seed=0):
    """Return texts of words of several subjects or none, and these subjects."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        labels = [label for label in WORDS if draw.random() < 0.45]
        words = [draw.choice(WORDS[label]) for label in labels] + draw.choices(("the", "man", "sees", "a"), k=4)
        draw.shuffle(words)
        rows.append({"text": " ".join(words), "labels": labels})
    return rows


def write_topics(path, count=240, seed=0):
    path.write_text("".join(json.dumps(each) + "\n" for each in topics(count, seed)))
    return str(path)


def test_the_loss_is_binary_cross_entropy_over_all_labels():
    bundle = multi()
    encoded, outputs = TASK.encode(ROWS, bundle), [np.array([1.0, -2.0, 0.5])] * 3
    assert encoded.labels.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    logits, labels = torch.tensor(np.stack(outputs)), torch.tensor(encoded.labels)
    expected = F.binary_cross_entropy_with_logits(logits, labels)
    predictions = TASK.predictions(ROWS, encoded, outputs, TASK.read_facts(bundle))
    assert predictions.loss == pytest.approx(float(expected)) and predictions.lines == ['["a", "c"]'] * 3
    assert float(TASK.losses(logits, labels).mean()) == pytest.approx(float(expected))


def test_metrics_are_those_of_the_bootstrap_with_every_example_once():
    facts = TASK.read_facts(multi())
    lines = ['["a"]', "[]", '["b", "c"]']
    values = multi_label.metrics(ROWS, lines, facts)
    assert values["micro_f1"] == pytest.approx(4 / 6) and values["exact_match"] == pytest.approx(1 / 3)
    for name, statistic in TASK.statistics_of(ROWS, lines, facts).items():
        assert statistic(np.ones(3)) == pytest.approx(values[name])
    with pytest.raises(ValueError, match="no list of labels"):
        multi_label.statistics(ROWS, ['"a"', "[]", "[]"], facts)


def test_the_best_constant_prediction_is_known():
    rows = [row("x", "a"), row("y", "a"), row("z", "a", "b"), row("w")]
    baseline = TASK.baseline(rows, None)
    assert baseline["micro_f1"] == pytest.approx(2 * 3 / (4 + 4))  # "a" for each of the four
    entropies = [-(p * np.log(p) + (1 - p) * np.log(1 - p)) for p in (0.75, 0.25)]
    assert baseline["loss"] == pytest.approx(np.mean(entropies)) and TASK.baseline([row("x")], None) == {}


def test_labels_reach_the_threshold_of_the_checkpoint_or_of_the_call():
    classifier = Classifier(multi())
    result = classifier(TEXTS[0])
    assert result.labels == tuple(
        label for label, value in sorted(result.probabilities.items(), key=lambda each: -each[1]) if value >= 0.5
    )
    assert sum(result.probabilities.values()) != pytest.approx(1)
    assert (
        len(classifier(TEXTS[0], threshold=1e-6).labels) == 3 and not classifier(TEXTS[0], threshold=0.999999).labels
    )
    assert classifier.with_threshold(1e-6)(TEXTS[0]).text.count("|") == 2
    assert result.to_dict()["labels"] == list(result.labels) and "labels" in result.cells()
    assert classifier(TEXTS[0], threshold=0.999999).lines() == [""]


def test_a_model_of_one_label_has_no_threshold_and_no_labels():
    classifier = Classifier(head_bundle("classify"))
    assert "labels" not in classifier(TEXTS[0]).to_dict()
    with pytest.raises(ConfigError) as error:
        classifier(TEXTS[0], threshold=0.3)
    assert str(error.value) == "line 1: threshold 0.3 is for multi-label models; this one is a single-label model."


def test_a_set_of_the_other_kind_is_refused():
    with pytest.raises(DataError) as error:
        TASK.check_rows("x.csv", [LabeledRow(("x",), "a")], TASK.read_facts(multi()))
    assert str(error.value) == (
        "x.csv: it has one label a row, and the problem is multi_label_classification; give lists of labels, or set "
        "label_separator for a table."
    )
    with pytest.raises(DataError, match="it has lists of labels, and the problem is single_label_classification"):
        TASK.check_rows("x.csv", ROWS, TASK.read_facts(head_bundle("classify")))
    with pytest.raises(DataError, match="no example has a label, so there is nothing to learn"):
        TASK.labels([row("x"), row("y")], "x.csv")


def test_label_ids_of_another_library_become_labels():
    bundle = multi(labels=["no", "yes"])
    adapted = TASK.adapt("x", [row("t", "0", "1"), row("u", "1")], bundle, Telling())
    assert [each.labels for each in adapted] == [("no", "yes"), ("yes",)] and adapted[1].label == '["yes"]'


def test_several_labels_are_learned_and_stored(tmp_path):
    settings = BERT | {
        "data.train.path": write_topics(tmp_path / "train.jsonl", 400),
        "data.test.new.path": write_topics(tmp_path / "new.jsonl", 100, seed=9),
        "train.steps": 160,
        "pooling": "mean",
    }
    run = regard.train("classify", settings, out=tmp_path / "run")
    scores = run.record.scores["new"]
    assert scores["micro_f1"] > 0.9 and scores["macro_f1"] > 0.9 and scores["exact_match"] > 0.8
    assert scores["scores"][0]["name"] == "micro F1 %" and "accuracy" not in scores and not scores.get("confusion")
    assert {each["label"] for each in scores["classes"]} == set(WORDS)
    plain = run.record.settings.plain
    assert plain["problem_type"] == MULTI_LABEL and plain["train"]["select_by"] == "micro_f1"
    classifier = regard.load(tmp_path / "run")
    assert set(classifier("the goal in the rain").labels) == {"sports", "weather"}
    assert classifier("the man sees a man").labels == ()
    card = (tmp_path / "run" / "README.md").read_text()
    assert "labels-new.png" in card and (tmp_path / "run" / "labels-new.png").is_file() and ").labels" in card
    assert "Confusion" not in card


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    settings = BERT | QUICK | {"data.train.path": write_topics(folder / "train.jsonl", 80)}
    for name, seed in (("one", 1), ("other", 2)):
        regard.train("classify", settings | {"seed": seed, "threshold": 0.4}, out=folder / name)
    write_topics(folder / "new.jsonl", 60, seed=5)
    return folder


def test_models_are_compared_by_a_paired_test(tiny):
    text = good("evaluate", tiny / "one", "--data", tiny / "new.jsonl", "--against", tiny / "other", "--json")
    (values,) = json.loads(text).values()
    differences = values["against"]["differences"]
    assert [each["metric"]["key"] for each in differences] == ["micro_f1", "macro_f1", "exact_match"]
    assert all(0 <= each["p"] <= 1 for each in differences)
    assert all(each["label"] in {*WORDS, "(none)"} or " | " in each["label"] for each in values["errors"])


def test_scores_are_printed_by_label(tiny):
    text = good("evaluate", tiny / "one", "--data", tiny / "new.jsonl")
    assert "micro F1" in text and "exact match" in text and "accuracy" not in text and "by label" in text


def test_another_threshold_is_scored_and_named(tiny):
    source = str(tiny / "new.jsonl")
    (evaluation,) = regard.evaluate(tiny / "one", source, threshold=0.999).values()
    assert evaluation.decode == {"threshold": 0.999} and evaluation.decode_defaults == {"threshold": 0.4}
    assert evaluation["micro_f1"] == 0.0


def test_a_resumed_run_is_the_uninterrupted_one(tmp_path):
    source = {"data.train.path": write_topics(tmp_path / "a.jsonl", 60)}
    assert verify_resume(find_recipe("classify"), BERT | QUICK | source, steps=4).is_exact


def test_lists_where_one_label_is_asked_for_are_refused(tmp_path):
    path = write_topics(tmp_path / "a.jsonl", 30)
    one = ("problem_type=single_label_classification", f"data.train.path={path}")
    assert "lists of labels" in refused("train", "classify", *one, "--out", tmp_path / "run")


def test_rows_from_memory_have_lists(tmp_path):
    rows = [(each["text"], each["labels"]) for each in topics(60)]
    run = regard.train("classify", BERT | QUICK, data=rows, out=tmp_path / "run")
    assert run.record.settings.plain["problem_type"] == MULTI_LABEL
    with pytest.raises(DataError, match="the label of row 1 is not text, a number or a list of labels"):
        regard.train("classify", BERT | QUICK, data=[("a", {"b": 1})], out=tmp_path / "other")

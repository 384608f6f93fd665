"""Whatever labels, words and names are made of, cards, reports and pictures show them and obey nothing in them."""

import csv
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from nasty import NASTY
from regard.nn.probes.attention_layer import AttentionLayer
from regard.reporting.markdown import code, table
from regard.runs.reports.scores import scores_section
from regard.runs.store.folder import RunFolder
from regard.runs.train import train
from regard.studies.race.charts import Chart, draw_lines
from regard.studies.race.elements import bullets, figure, section
from regard.studies.transfer.report import write_report
from regard.tasks.card import CardInput
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.pictures import draw_confusion
from regard.tasks.word_vectors.map import _draw, map_page
from tuning import BERT

LABELS = ("$0_$10", "<script>alert(1)</script>", "a|b`c", "日本 [x](y)")


def test_labels_of_all_kinds_are_learned_and_written_into_a_card(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("text", "label"))
        rows.writerows((f"text of kind {number % 4} and {number}", LABELS[number % 4]) for number in range(60))
    run = train(
        "classify", BERT | {"train.steps": 4, "train.warmup": 1, "data.train.path": str(path)}, out=tmp_path / "r"
    )
    card = run.card().read_text(encoding="utf-8")
    assert "<script>" not in card and "&lt;script&gt;" in card and "[x](y)" not in card
    tables = [line for line in card.splitlines() if line.startswith("|")]
    assert any(line.startswith("| a&#124;b\\`c |") for line in tables)
    widths = [line.count("|") for line in tables if "script" in line or "124" in line]
    assert widths and (run.path / "confusion-valid.png").is_file()


def test_a_confusion_matrix_of_any_labels_can_be_drawn(tmp_path):
    count = len(NASTY)
    confusion = [[int(row == column) for column in range(count)] for row in range(count)]
    name = draw_confusion(tmp_path, "a/b $x$ <i>" * 50, confusion, NASTY)
    assert (tmp_path / name).is_file() and "/" not in name


def test_a_card_of_any_labels_and_texts_has_as_many_cells_as_columns(tmp_path):
    metrics = {"count": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    scores = {
        "examples": 3,
        "loss": 0.5,
        "accuracy": 0.5,
        "intervals": {},
        "decode": {},
        "scores": [{"name": "accuracy", "value": 0.5, "signature": "", "key": "accuracy"}],
        "test_set": {"sources": "0" * 64, "references": ["0" * 64]},
        "classes": [{"label": each} | metrics for each in NASTY],
        "errors": [{"texts": [each, each], "label": each, "predicted": each, "probability": 0.5} for each in NASTY],
    }
    card = CardInput(tmp_path, SimpleNamespace(scores={"a|b": scores}))
    text = "\n".join(scores_section(RunFolder(tmp_path), TASK, card))
    picture = "](labels-a-b.png)"
    assert text.count(picture) == 1
    text = text.replace(picture, "")
    assert not re.search(r"<script|[\x00-\x09\x0b-\x1f]|(?<!\\)\]\(", text)
    for block in text.split("\n\n"):
        assert len({line.count("|") for line in block.split("\n") if line.startswith("|")}) <= 1


def test_pictures_of_a_race_are_well_formed_whatever_is_in_them():
    picture = Chart("a", '"<b>" & \x1b', lambda axes, theme: draw_lines(axes, [(each, [0], [1]) for each in NASTY]))
    ElementTree.fromstring(picture.svg().replace("xlink:", ""))
    shown = section(NASTY[0], [figure(picture, NASTY[0])], bullets(NASTY))
    assert "<script" not in shown and "\x1b" not in shown
    ElementTree.fromstring(shown.replace("xlink:", ""))


def test_a_report_of_a_transfer_escapes_what_users_name(tmp_path):
    name = "<script>$x|\x1b"
    results = {
        "name": name,
        "data": name,
        "methods": ["scratch"],
        "sizes": [10, None],
        "seeds": 1,
        "pretrained": {"vectors": name},
        "pretraining": {},
        "train_examples": 20,
        "valid_examples": 3,
        "test_examples": 5,
        "failed": {name: name},
        "is_finished": False,
        "done": 0,
        "of": 2,
        "cells": [],
        "machine": None,
        "regard": "0",
        "table": [
            {
                "method": "vectors-frozen",
                "about": name,
                "parameters": None,
                "trainable_parameters": None,
                "by_size": [{"accuracy": None, "spread": None, "seconds": None, "mix": {name: 1.0}}] * 2,
            }
        ],
    }
    text = write_report(results, tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text and "\x1b" not in text and "&lt;script&gt;$x|" in text


def test_words_of_all_kinds_are_drawn_on_a_map(tmp_path):
    import numpy as np

    points = np.arange(2.0 * len(NASTY)).reshape(-1, 2)
    _draw(NASTY, points, "pca", tmp_path / "map.png")
    text = map_page(NASTY, points, [NASTY] * len(NASTY), "<script>")
    assert text.count("<script") == 1 and text.encode("utf-8")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_tokens_of_all_kinds_are_drawn_with_their_weights(tmp_path, ending):
    import numpy as np

    count = len(NASTY)
    layer = AttentionLayer("self", 0, 1, NASTY, NASTY, np.full((1, count, count), 1 / count, np.float32))
    layer.plot([None], tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 1000
    if ending == "svg":
        ElementTree.parse(tmp_path / "a.svg")


def test_code_in_a_cell_is_one_cell():
    for text in NASTY:
        line = table(["a", "b"], [(code(text), text)])[2]
        assert len(re.findall(r"(?<!\\)\|", line)) == 3 and "\n" not in line, line

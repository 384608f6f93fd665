"""The section of a card on scores: every passport, and run.json where there is none."""

import json
import shutil

from regard.runs.evaluate import evaluate
from regard.runs.reports.scores import evaluations_of, scores_section
from regard.runs.run import Run
from regard.tasks.card import CardInput
from regard.tasks.contract import find_task

TASK = find_task("classify")


def test_other_data_has_its_row_its_table_and_its_picture(tiny_runs, tmp_path):
    shutil.copytree(tiny_runs / "classify", tmp_path / "run")
    run = Run(tmp_path / "run")
    (tmp_path / "new.csv").write_text((tiny_runs / "classify-data" / "reviews.csv").read_text())
    evaluate(run, str(tmp_path / "new.csv"), device="cpu")
    card = (run.path / "README.md").read_text()
    assert "| new.csv | 60 |" in card and "### new.csv, by label" in card
    assert "![Confusion matrix of new.csv](confusion-new.csv.png)" in card
    assert (run.path / "confusion-new.csv.png").is_file() and (run.path / "confusion-valid.png").is_file()


def test_sets_without_a_passport_come_from_the_record(tiny_runs, tmp_path):
    shutil.copytree(tiny_runs / "classify", tmp_path / "run")
    run = Run(tmp_path / "run")
    shutil.rmtree(run.path / "scores")
    assert list(evaluations_of(run, TASK, run.scores)) == ["valid"]
    lines = scores_section(run, TASK, CardInput(run.path, run.record))
    assert any(line.startswith("| valid |") for line in lines)
    (run.path / "scores").mkdir()
    (run.path / "scores" / "odd.json").write_text(json.dumps({"passport": 2}))
    assert list(evaluations_of(run, TASK, run.scores)) == ["valid"]
    run.note(scores={})
    assert scores_section(run, TASK, CardInput(run.path, run.record))[-1].startswith("None yet; `regard evaluate ")

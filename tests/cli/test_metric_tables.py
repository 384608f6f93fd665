"""Printed scores, comparisons, plans and ends of runs."""

import json

from regard.cli.metrics import plan_parts, print_run
from regard.cli.options import Given
from regard.metrics.comparison import ComparedMetric, Comparison, Difference
from regard.runs.planning.plan import Plan
from regard.runs.run import Run
from regard.tasks.contract import find_task


def test_a_metric_is_shown_with_its_interval_and_nan_as_a_dash(capsys, tiny_runs):
    recorded = Run(tiny_runs / "classify").scores["valid"]
    changed = recorded | {"macro_f1": float("nan"), "intervals": {"accuracy": [0.25, 0.75]}, "accuracy": 0.5}
    Given().show(None, *find_task("classify").score_parts({"test": changed}))
    header, row = (line.split("\t") for line in capsys.readouterr().out.splitlines()[:2])
    cells = dict(zip(header, row, strict=True))
    assert cells["set"] == "test" and cells["examples"] == str(recorded["examples"])
    assert cells["accuracy"] == "0.5000 [0.2500, 0.7500]" and "-" in cells.values()
    assert cells["loss"] == f"{recorded['loss']:.4f}"


def test_a_metric_that_no_set_has_gets_no_column(capsys):
    scores = [{"name": "BLEU", "value": 12.345, "signature": "s", "key": "bleu"}]
    decode = {"beam_size": 5, "length_penalty": "average"}
    values = {"sentences": 1234, "loss": 2.0, "bleu": 12.345, "scores": scores, "decode": decode}
    Given().show(None, *find_task("translate").score_parts({"own": values}))
    assert capsys.readouterr().out.splitlines() == [
        "set\tsentences\tBLEU\tloss",
        "own\t1,234\t12.35\t2.000",
        "BLEU: s",
        "decoding of all sentences: beam size 5, length penalty average",
    ]


def test_a_comparison_has_a_row_and_a_sentence_for_each_metric(capsys):
    better = Difference(ComparedMetric("bleu", "BLEU"), 30.0, (28.0, 32.0), 20.0, (18.0, 22.0), (8.0, 12.0), 0.001)
    comparison = Comparison("test", "runs/a", "runs/b", 1000, 12345, (better,), {"beam_size": (5, 1)})
    Given().show(None, *comparison.parts())
    _, title, header, row, verdict, decoding, last = capsys.readouterr().out.splitlines()
    assert title == "test: runs/a against runs/b" and header.startswith("metric\tfirst [95 %]")
    assert row == "BLEU\t30.00 [28.00, 32.00]\t20.00 [18.00, 22.00]\t10.00 [8.00, 12.00]\t0.0010"
    assert verdict.startswith("BLEU: runs/a is better than runs/b (difference +10.00")
    assert decoding == "Their decoding differs too: beam_size 5 and 1."
    assert last == "Paired bootstrap, two-sided, 1,000 resamples, seed 12345."


def test_a_plan_is_a_table_or_json_with_the_sizes_of_the_data(capsys):
    plan = Plan("translate", None, 12345, 600, 50, 10, 5.0, "cpu", {"train_pairs": 300, "dropped": {"empty": 1000}})
    Given().show(plan.to_dict(), *plan_parts(plan))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "what\tvalue",
        "task\ttranslate",
        "preset\t–",
        "parameters\t12,345",
        "vocabulary\t600",
        "train pairs\t300",
    ]
    assert "dropped\tempty 1,000" in lines and lines[-2:] == ["device\tcpu", "end\tafter the last update"]
    Given(json=True).show(plan.to_dict(), *plan_parts(plan))
    assert json.loads(capsys.readouterr().out) == plan.to_dict()


def test_the_end_of_a_run_is_a_sentence_scores_and_a_command(tiny_runs, capsys):
    run = Run(tiny_runs / "tag")
    print_run(run, Given())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{run.path}: finished after 4 steps and 0:0") and lines[-1] == (
        f"Use it: regard tag {run.path} TEXT"
    )
    print_run(run, Given(json=True))
    values = json.loads(capsys.readouterr().out)
    assert values["run"] == str(run.path) and values["steps"] == 4 and values["scores"] == run.scores
    assert "settings" not in values and values["data"]["train"]["kept"] > 0

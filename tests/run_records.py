"""Records of runs that were never trained, for tests of cards and tables."""

from pathlib import Path

from regard import registry
from regard.runs.reports.scores import scores_section
from regard.runs.store.folder import RunFolder
from regard.tasks.card import CardInput
from regard.tasks.contract import find_task
from regard.tasks.record import RunRecord

COUNTS = {"documents": 1200, "tokens": 34567, "bytes": 98765, "words": 23456}
SOURCES = {"train": {"paths": ["books"], "max_rows": 300}, "valid": None, "test": {"news": {"paths": ["news.txt"]}}}


def run_record(task, report=None, scores=None, sources=SOURCES, **more):
    """Return the typed record of a run that has not ended."""
    values = {
        "path": Path("runs/one"),
        "format": 2,
        "state": "training",
        "task": task,
        "settings": {"task": task, "model": {"family": "any"}, "train": {}, "data": sources} | more,
        "sources": {},
        "started": "2020-01-01T00:00:00+00:00",
        "regard": "0",
        "machine": {"device": "cpu", "threads": 1},
        "parameters": 1,
        "data": {},
        "scores": scores or {},
    }
    report = {"train": COUNTS, "valid": COUNTS, "window": 32, "folder": "corpora/x", "hash": "c0ffee"} | (
        report or {}
    )
    typed = registry.task(task).report.model_validate(report)
    return RunRecord.model_validate(values).model_copy(update={"data": typed})


def card_of(record):
    """Return what the card of a run is written from."""
    return CardInput(record.path, record)


def scores_of(record):
    """Return the section on scores of the card of a run without passports."""
    card = card_of(record)
    return scores_section(RunFolder(record.path), find_task(record.task), card)


def evaluated(key="loss", **values):
    """Return an evaluation as run.json keeps it, whose one score is a metric."""
    score = {"name": key, "value": values.get(key), "signature": "rule", "key": key}
    hashes = {"sources": "0123456789abcdef", "references": []}
    return {"scores": [score], "intervals": {}, "decode": {}, "test_set": hashes} | values


def cells(lines, first):
    """Return the cells of the row of a Markdown table that begins with a word."""
    (row,) = (line for line in lines if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]

"""Every task trains on rows from memory, and the run is resumed and overwritten as one on files is."""

import csv
import json
from pathlib import Path

import pytest

import regard
from every_task import TASKS
from regard import miniature
from regard.config.overrides import parse_value
from regard.tasks.contract import find_task
from tuning import tagged


def rows_of(name: str, folder: Path) -> list:
    """Return the rows of the tiny data of a task."""
    if "paths" in find_task(name).source.model_fields:
        return list(miniature.documents("train", 40))
    if name == "translate":
        return list(miniature.pairs("train", 80))
    if name == "tag":
        return [tuple(zip(*sentence, strict=True)) for sentence in tagged(60)]
    (file,) = (Path(value) for value in TASKS[name].write(folder).values())
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in file.read_text().splitlines()]
    with file.open(newline="") as table:
        _, *rows = csv.reader(table)
    return [(*row[:-1], float(row[-1])) if name == "regress" else tuple(row) for row in rows]


@pytest.mark.parametrize("name", TASKS)
def test_rows_train_resume_and_are_overwritten_as_files_are(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, out = rows_of(name, tmp_path), Path("run")
    given = TASKS[name].settings | {"train.steps": 2}
    quick = {key: parse_value(value) if isinstance(value, str) else value for key, value in given.items()}
    regard.train(name, quick, data=rows[1:], out=out)
    run = regard.train(name, quick, data=rows, out=out, overwrite=True)
    (file,) = (out / "data").glob("train-*.jsonl")
    assert len(file.read_text().splitlines()) == len(rows)
    assert str(file) in json.dumps(run.record.settings.plain["data"])
    assert regard.resume(run.path, {"train.steps": 3}).record.steps == 3


def test_validation_rows_and_bad_rows_have_their_own_sentences(tmp_path):
    quick = {**TASKS["classify"].settings, "train.steps": 2}
    rows = rows_of("classify", tmp_path)
    run = regard.train("classify", quick, data=rows[:40], valid=rows[40:], out=tmp_path / "run")
    assert run.record.report.model_dump()["valid"]["kept"] == 20
    with pytest.raises(regard.RegardError) as error:
        regard.train("classify", quick, data=[{"words": text} for text, _ in rows], out=tmp_path / "bad")
    assert str(error.value).startswith("data: ") and not (tmp_path / "bad").exists()

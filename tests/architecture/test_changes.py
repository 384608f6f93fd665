"""The table of changes in ARCHITECTURE.md holds: its files exist, and what a registry promises is all it takes."""

import csv
import json
import re
from pathlib import Path
from typing import Generic, Literal

import pytest

from commands import good
from regard import registry
from regard.tasks.classify.settings import ClassifySettings
from regard.tasks.classify.task import Classify
from regard.tasks.settings import M

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "regard"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMES = ("task.py", "records.py", "settings.py", "pipeline.py")
"""Files that a row names inside the folder it speaks of."""


def rows() -> list[tuple[str, str]]:
    """Return the changes and the files of the table."""
    table = PAGE.partition("## To change X, touch Y")[2]
    cells = (line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| "))
    return [(change, files) for change, files in cells if change != "change"]


@pytest.mark.parametrize(("change", "files"), rows())
def test_every_file_of_a_change_exists(change, files):
    paths = [word for word in re.findall(r"`([^`]+)`", files) if "/" in word or word.endswith(".py")]
    assert paths, f"{change}: its row names no file"
    folder = next((Path(path).parent for path in paths if "/" in path), Path())
    for path in paths:
        if path in NAMES:
            assert list((SOURCE / "tasks").glob(f"*/{path}")), path
            continue
        pattern = re.sub(r"<\w+>", "*", path)
        found = [*SOURCE.glob(pattern), *ROOT.glob(pattern), *(SOURCE / folder).glob(pattern)]
        assert found, f"{change}: there is no {path}"


def test_every_folder_of_the_source_has_a_row():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert {name for name in folders if f"`{name}/`" not in PAGE} <= {"recipes"}


class ToySettings(ClassifySettings[M], Generic[M]):
    """Settings of a run of the toy task."""

    task: Literal["toy"] = "toy"


class Toy(Classify):
    """A task that nothing but the registry has heard of."""

    name = "toy"
    run_settings = ToySettings


TASK = Toy()


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(registry.TASKS.built_in, "toy", f"{__name__}:TASK")
    yield
    registry.TASKS._loaded.pop("toy", None)


def test_a_task_takes_one_line_in_the_registry(registered, tmp_path, monkeypatch):
    """It trains, resumes, is scored, compared, listed, examined, planned and described without any other file."""
    monkeypatch.chdir(tmp_path)
    with Path("rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows([f"{word} {number}", label] for number in range(40) for word, label in WORDS)
    tiny = ["model.layers=1", "model.width=16", "model.heads=2", "model.feed_forward_width=16", "text.size=300"]
    words = ["toy", "--data", "rows.csv", *tiny, "train.steps=4", "machine.threads=1", "--device", "cpu"]
    plan = json.loads(good("train", *words, "--dry-run", "--json", "-q"))
    assert plan["task"] == "toy" and plan["labels"] == 2 and plan["updates"] == 4
    good("train", *words, "--out", "run", "-q")
    good("train", "--resume", "run", "train.steps=6", "-q")
    scores = json.loads(good("evaluate", "run", "--against", "run", "--json", "-q"))
    assert scores["valid"]["accuracy"] >= 0 and scores["valid"]["against"]["differences"][0]["value"] == 0
    [listed] = json.loads(good("runs", "list", ".", "--json"))
    assert listed["task"] == "toy" and listed["steps"] == 6 and listed["score"]["metric"] == "accuracy %"
    good("doctor", *words, "--quick", "-q")
    assert "task `toy`" in Path("run/README.md").read_text(encoding="utf-8")


WORDS = [("good", "yes"), ("bad", "no")]

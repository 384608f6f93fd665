"""The folder of a run: claimed, locked, begun and abandoned without touching anything else."""

import json
from pathlib import Path

import pytest

from regard.errors import RunError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.store.folder import (
    FORMAT,
    RunFolder,
    abandon,
    claim,
    clear_leftovers,
    missing_folders,
    read_record,
    removed_if_empty,
)

SETTINGS = resolve_run(find_recipe("translate"), {"data.train.path": "a.tsv"}).settings.model_dump(mode="json")
RECORD = {"state": "preparing", "task": "translate", "settings": SETTINGS, "sources": {}}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def run(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.path.mkdir(parents=True)
    folder.begin(RECORD)
    return folder


def test_a_new_record_is_written_and_read_back(run):
    assert run.exists and run.state == "preparing" and not run.has_checkpoint and run.scores == {}
    assert run.record.settings.plain == SETTINGS and run.record.format == FORMAT
    run.note(process={"pid": 7})
    assert run.record.process.pid == 7 and run.record.task == "translate"


def test_beginning_again_empties_the_folder_but_for_the_data_it_names(run):
    for name in ("metrics.jsonl", "data/train-new.jsonl", "data/train-old.jsonl", "checkpoints/x"):
        (run.path / name).parent.mkdir(exist_ok=True)
        (run.path / name).write_text("x")
    data = SETTINGS["data"] | {"train": {"path": str(run.path / "data" / "train-new.jsonl")}}
    run.begin(RECORD | {"settings": SETTINGS | {"data": data}})
    assert names(run.path) == ["data", "run.json"] and names(run.path / "data") == ["train-new.jsonl"]


def test_what_is_no_run_is_reported_as_such(run, tmp_path):
    assert RunFolder(tmp_path).state == "" and read_record(tmp_path) is None
    assert read_record(run.path) == run.record
    (run.path / "run.json").write_text("{")
    assert run.state == ""


def test_a_folder_is_claimed_if_it_is_free_empty_or_to_be_overwritten(run, tmp_path):
    assert claim(tmp_path / "new" / "run", overwrite=False).path == tmp_path / "new" / "run"
    assert not (tmp_path / "new").exists()
    with pytest.raises(RunError, match=r"there is a run here already \(preparing\); resume it with --resume"):
        claim(run.path, overwrite=False)
    assert claim(run.path, overwrite=True).exists
    (tmp_path / "notes").mkdir()
    assert claim(tmp_path / "notes", overwrite=False).path == tmp_path / "notes"
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="this exists and is not a run"):
        claim(tmp_path / "notes", overwrite=True)
    with pytest.raises(RunError, match="mine.txt: this exists and is not a run"):
        claim(tmp_path / "notes" / "mine.txt", overwrite=True)
    with pytest.raises(RunError, match="no folder can be made in .*mine.txt; choose another folder with --out"):
        claim(tmp_path / "notes" / "mine.txt" / "run", overwrite=False)


def test_only_one_process_holds_a_folder(run):
    refused = pytest.raises(RunError, match="another process is training this run right now")
    with run.in_hand(), refused, run.in_hand():
        raise AssertionError
    with run.in_hand():
        pass


def test_a_run_that_never_began_is_removed_with_the_folders_made_for_it(tmp_path):
    path = tmp_path / "a" / "b" / "run"
    made = missing_folders(path)
    assert made == [path, tmp_path / "a" / "b", tmp_path / "a"]
    path.mkdir(parents=True)
    RunFolder(path).begin(RECORD)
    (tmp_path / "a" / "other.txt").write_text("mine")
    abandon(RunFolder(path), made)
    assert names(tmp_path / "a") == ["other.txt"]


def test_a_run_that_began_to_train_is_never_removed(run, quick_run):
    whole = json.loads((quick_run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps(whole | {"state": "failed"}))
    abandon(run, [run.path])
    assert run.state == "failed"


def test_empty_folders_go_if_what_follows_fails(tmp_path):
    made = missing_folders(tmp_path / "a" / "run")
    with pytest.raises(ZeroDivisionError), removed_if_empty(made):
        (tmp_path / "a" / "run").mkdir(parents=True)
        (tmp_path / "a" / "run" / ".lock").write_text("")
        _ = 1 / 0
    assert names(tmp_path) == []
    with pytest.raises(ZeroDivisionError), removed_if_empty(made):
        (tmp_path / "a" / "run").mkdir(parents=True)
        (tmp_path / "a" / "kept.txt").write_text("")
        _ = 1 / 0
    assert names(tmp_path / "a") == ["kept.txt"]


def test_leftovers_of_killed_writes_are_cleared(run):
    (run.path / ".run.json.0123abcd").write_text("{")
    (run.path / "notes.txt").write_text("mine")
    clear_leftovers(run)
    assert names(run.path) == ["notes.txt", "run.json"]

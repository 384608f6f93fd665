import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regard.errors import RunError
from regard.runs.run import Run
from regard.runs.store.listing import delete_run, list_runs, state_of
from regard.runs.store.process import is_alive, this_process
from regard.runs.train import train
from regard.tasks.record import ProcessRecord


@pytest.fixture
def shelf(quick_run, tmp_path):
    """A folder with two runs, one of them nested."""
    shutil.copytree(quick_run.path, tmp_path / "runs" / "one")
    shutil.copytree(quick_run.path, tmp_path / "runs" / "group" / "two")
    Run(tmp_path / "runs" / "one").note(started="2020-01-01T00:00:00+00:00")
    return tmp_path / "runs"


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refusal(path, **options):
    before = everything(path.parent)
    with pytest.raises(RunError) as error:
        delete_run(path, **options)
    assert everything(path.parent) == before
    return str(error.value)


def test_runs_are_listed_the_newest_first(shelf, quick_run):
    newest, oldest = list_runs(shelf)
    assert (newest.path, oldest.path) == (shelf / "group" / "two", shelf / "one")
    assert oldest.task == "translate" and oldest.preset == "transformer-tiny" and oldest.state == "finished"
    bleu = quick_run.scores["test"]["scores"][0]["value"]
    assert (oldest.score.metric, oldest.score.set, oldest.score.value) == (
        "BLEU",
        "test",
        round(bleu, 2 if bleu > 1 else 4),
    )
    assert oldest.parameters == quick_run.record.parameters and oldest.steps == 60
    files = sum(path.stat().st_size for path in (shelf / "one").rglob("*") if path.is_file())
    assert oldest.bytes == files and oldest.age_seconds > 86_400 * 365 and 0 <= newest.age_seconds < 3600


def test_a_run_s_own_folder_lists_itself_and_links_are_not_followed(shelf, tmp_path):
    assert [each.path for each in list_runs(shelf / "one")] == [shelf / "one"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "link").symlink_to(shelf / "one")
    assert list_runs(tmp_path / "other") == []
    with pytest.raises(RunError) as error:
        list_runs(tmp_path / "nowhere")
    assert str(error.value) == (
        f"{tmp_path / 'nowhere'}: there is no such folder; train something first, or name the folder of your runs."
    )


def test_a_run_without_scores_is_known_by_its_best_validation(shelf):
    run = Run(shelf / "one")
    record = json.loads((run.path / "run.json").read_text())
    del record["scores"]
    (run.path / "run.json").write_text(json.dumps(record))
    values = [json.loads(line).get("valid_bleu") for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    score = list_runs(run.path)[0].score
    assert (score.metric, score.set) == ("BLEU", "valid")
    assert score.value == round(max(value for value in values if value is not None), 2)
    (run.path / "metrics.jsonl").write_text('{"step": 1, "valid_loss": 2.5}\n{"step": 2, "valid_loss": 1.25}\n{"cut')
    assert (list_runs(run.path)[0].score.metric, list_runs(run.path)[0].score.value) == ("loss", 1.25)
    (run.path / "metrics.jsonl").unlink()
    assert list_runs(run.path)[0].score is None


def test_a_damaged_record_is_listed_and_never_deleted(shelf):
    (shelf / "one" / "run.json").write_text("{")
    states = {each.path: each.state for each in list_runs(shelf)}
    assert states[shelf / "one"] == "unreadable"
    assert refusal(shelf / "one") == (
        f"{shelf / 'one' / 'run.json'}: this is not the record of a run that this version of regard can read (line "
        "1: Expecting property name enclosed in double quotes)."
    )


def test_a_run_in_training_is_told_from_a_killed_one(quick_run):
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()"], stdin=-1, stdout=-1
    )
    process.stdout.readline()
    known = ProcessRecord(**this_process() | {"pid": process.pid, "began": None})
    record = quick_run.record.model_copy(update={"state": "running", "process": known})
    assert state_of(record) == "running"
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, but its parent has not looked yet
    if Path("/proc/self/stat").exists():
        assert state_of(record) == "stopped (killed)"
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert state_of(record) == "stopped (killed)"
    assert state_of(quick_run.record) == "finished"


def test_a_number_given_to_a_new_process_is_not_the_old_one(quick_run):
    own = ProcessRecord(**this_process())
    assert is_alive(own) is True and is_alive(ProcessRecord(pid=1, host=own.host)) is True
    if own.began is not None:
        assert is_alive(own.model_copy(update={"began": own.began - 1})) is False
    elsewhere = own.model_copy(update={"host": "another"})
    assert is_alive(elsewhere) is None and is_alive(ProcessRecord()) is None
    running = quick_run.record.model_copy(update={"state": "running", "process": elsewhere})
    assert state_of(running) == "running on another"
    assert state_of(running.model_copy(update={"process": ProcessRecord()})) == "running, or killed"


def test_training_notes_its_process(tmp_path):
    brief = {"train.steps": 1, "train.warmup": 0, "train.validate_every": 1, "validation.bleu_sentences": 0}
    few = {f"data.test.{name}.max_rows": 2 for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")}
    rows = {"data.train.max_rows": 100, "data.valid.max_rows": 5, "text.size": 300, "model.width": 16}
    run = train("translate-miniature", brief | few | rows, out=tmp_path / "own")
    assert run.record.process == ProcessRecord(**this_process())


def test_a_deleted_run_is_gone_and_nothing_else(shelf, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "keep.txt").write_text("mine")
    (shelf / "one" / "link").symlink_to(precious)
    (shelf / "one" / "checkpoints" / "link").symlink_to(precious)
    (shelf / "one" / "file-link").symlink_to(precious / "keep.txt")
    before = everything(shelf / "group")
    gone = delete_run(shelf / "one")
    assert gone.path == shelf / "one" and gone.bytes > 0
    assert not (shelf / "one").exists() and everything(shelf / "group") == before
    assert (precious / "keep.txt").read_text() == "mine"


def test_what_is_no_run_is_not_deleted(shelf, tmp_path):
    assert refusal(shelf) == f"{shelf}: there is no run here (run.json is missing); check the path."
    assert refusal(shelf / "nothing").endswith("there is no run here (run.json is missing); check the path.")
    (shelf / "link").symlink_to(shelf / "one")
    assert refusal(shelf / "link") == (
        f"{shelf / 'link'}: this is a link to {shelf / 'one'}; name the run itself, or remove the link."
    )
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "run.json").write_text('{"command": "marathon"}')
    assert refusal(mine) == (
        f"{mine / 'run.json'}: this is not the record of a run that this version of regard can read (format is "
        "missing)."
    )
    assert (mine / "run.json").exists()


def test_a_run_that_holds_another_or_the_working_folder_is_not_deleted(shelf, monkeypatch):
    shutil.copytree(shelf / "group" / "two", shelf / "one" / "inner" / "three")
    assert refusal(shelf / "one") == (
        f"{shelf / 'one'}: there is another run inside ({shelf / 'one' / 'inner' / 'three'}); move or delete that "
        "one first."
    )
    monkeypatch.chdir(shelf / "group" / "two" / "checkpoints")
    assert (
        refusal(shelf / "group" / "two")
        == f"{shelf / 'group' / 'two'}: you are inside this folder; go elsewhere first."
    )


def test_a_run_in_training_is_not_deleted(shelf):
    run = Run(shelf / "one")
    expected = f"{run.path}: it is being trained right now (process {os.getpid()}); stop it with Ctrl-C first."
    for state in ("preparing", "running"):
        run.note(state=state, process=this_process())
        assert refusal(run.path) == refusal(run.path, force=True) == expected
    run.note(process=this_process() | {"host": "another"})
    assert refusal(run.path) == (
        f"{run.path}: running on another, which cannot be checked from here; if it is dead, delete it with --force."
    )
    delete_run(run.path, force=True)
    assert not run.path.exists()


def test_without_sizes_everything_else_is_the_same(quick_run):
    (sized,), (plain,) = list_runs(quick_run.path), list_runs(quick_run.path, has_sizes=False)
    assert sized.bytes > 0 and plain.bytes == 0
    assert (plain.score, plain.state, plain.steps) == (sized.score, sized.state, sized.steps)

"""The verbs that train: train, verify-resume, average."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from commands import TINY, bad, call, corpus, good, outside
from regard import miniature


def test_train_from_two_files(tmp_path):
    files = corpus(tmp_path)
    out = tmp_path / "run"
    text = good("train", "translate", *files, "--out", out, "--seed", 5, "--quiet", "train.steps=3", *TINY)
    assert f"Use it: regard translate {out} TEXT" in text and "BLEU" in text
    record = json.loads((out / "run.json").read_text())
    assert record["settings"]["seed"] == 5 and record["state"] == "finished"
    resumed = json.loads(good("train", "--resume", out, "train.steps=5", "--json", "--quiet"))
    assert resumed["steps"] == 5 and "valid" in resumed["scores"]


def test_a_changed_file_is_forced_by_the_command_line(tmp_path):
    files = corpus(tmp_path)
    out = tmp_path / "run"
    good("train", "translate", *files, "--out", out, "--quiet", "train.steps=3", *TINY)
    (tmp_path / "a.de").write_text((tmp_path / "a.de").read_text().replace("e", "a", 1))
    assert bad("train", "--resume", out, "train.steps=5") == (
        f"{tmp_path / 'a.de'}: the file changed since the run began, so resuming would not continue the same run; "
        "restore it, start a new run, or resume regardless with --force."
    )
    assert json.loads(good("train", "--resume", out, "--force", "train.steps=5", "--json", "-q"))["steps"] == 5
    result = call("train", "translate", "--force")
    assert str(result.exception) == "--force is for --resume; use --overwrite to replace an existing run."


def test_resume_is_verified_and_a_difference_is_exit_code_1(tmp_path, monkeypatch):
    files = dict(zip(("source", "target"), corpus(tmp_path)[1::2]))
    words = ["verify-resume", "translate", *(f"data.train.{side}={path}" for side, path in files.items()), *TINY]
    text = good(*words, "--steps", 4, "--quiet")
    assert text == (
        "state\tlargest difference\nweights\t0\noptimizer\t0\nlosses\t0\n"
        "4 steps, interrupted after 2, on cpu: bit-identical.\n"
    )
    monkeypatch.setattr("regard.training.recoverable.restore_optimizer", lambda *_: None)
    result = call(*words, "--steps", 4, "--quiet", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and not found["is_exact"] and found["weights"] > 0 and found["steps"] == 4


def test_checkpoints_are_averaged(quick_run, tmp_path):
    out = tmp_path / "mean"
    text = good("average", quick_run.path, "--out", out)
    assert text == (f"{out}: the mean of 2 checkpoints (00000060, 00000030).\nUse it: regard translate {out} TEXT\n")
    found = json.loads(good("average", quick_run.path, "--out", tmp_path / "again", "--json"))
    assert found["path"] == str(tmp_path / "again") and len(found["checkpoints"]) == 2
    named = [quick_run.best, quick_run.latest]
    assert "the mean of 2 checkpoints" in good("average", *named, "--out", tmp_path / "named")
    assert str(call("average", *named).exception) == (
        "--out: several checkpoints are averaged; name the new folder with it."
    )
    assert str(call("average", *named, "--count", 2, "--out", tmp_path / "x").exception) == (
        "--count 2 is for the checkpoints of one run; here each is named."
    )


def test_a_dry_run_writes_nothing(tmp_path, monkeypatch):
    files = corpus(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan = json.loads(good("train", "translate", *files, "--dry-run", "--json", "--quiet", *TINY))
    assert plan["train_pairs"] + plan["valid_pairs"] == 120 and plan["updates_per_epoch"] >= 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.de", "a.en"]


def test_files_that_a_shell_has_found_all_belong_to_the_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"{name}.txt" for name in "abc"]
    for number, name in enumerate(names):
        (tmp_path / name).write_text("\n".join(miniature.documents("train", 20 + number)), encoding="utf-8")
    words = ["train", "language-model", "text.size=400", "--dry-run", "--json", "--quiet"]
    together = json.loads(good(*words, "--text", *names))
    apart = json.loads(good(*words, *(word for name in names for word in ("--text", name))))
    assert together.pop("seconds") > 0 and apart.pop("seconds") > 0  # measured, so never the same
    assert together == apart
    assert together["train_tokens"] > 2 * json.loads(good(*words, "--text", names[0]))["train_tokens"]
    sentence = bad(*words, "--text", "a.txt", "--valid-text", "b.txt", "c.txt")
    assert sentence == '"c.txt" is not a setting: write it as key=value, for example train.steps=1000.'


def test_progress_goes_to_standard_error_and_results_to_standard_output(tmp_path):
    files = corpus(tmp_path)
    done = outside("train", "translate", *files, "--out", tmp_path / "run", "train.steps=2", *TINY)
    assert done.returncode == 0
    assert "pairs kept" in done.stderr and "pairs kept" not in done.stdout
    assert "\x1b[" not in done.stderr + done.stdout


def started(*words) -> subprocess.Popen:
    """Begin a command in a process of its own that hears Ctrl-C, as a job in the background would not."""
    return subprocess.Popen(
        [sys.executable, "-m", "regard", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def interrupted(process: subprocess.Popen, as_soon_as: Path) -> str:
    """Press Ctrl-C as soon as a file is there, and return what the process says."""
    deadline = time.monotonic() + 60
    while not as_soon_as.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    return errors


def test_ctrl_c_saves_and_prints_how_to_resume(tmp_path):
    files, out = corpus(tmp_path), tmp_path / "run"
    process = started(
        *("train", "translate", *files, "--out", out), "train.steps=100000", "train.validate_every=5", *TINY
    )
    errors = interrupted(process, as_soon_as=out / "checkpoints" / "index.json")
    assert f"everything is saved.\nResume: regard train --resume {out}" in errors and "Traceback" not in errors
    record = json.loads((out / "run.json").read_text())
    assert record["state"] == "interrupted"
    resumed = json.loads(good("train", "--resume", out, f"train.steps={record['steps'] + 3}", "--quiet", "--json"))
    assert resumed["steps"] == record["steps"] + 3


def test_ctrl_c_before_training_is_one_word_and_leaves_nothing(tmp_path):
    out = tmp_path / "run"
    process = started("train", "translate-miniature", "--out", out, "--quiet")
    assert interrupted(process, as_soon_as=out / "run.json") == "regard: stopped.\n"
    assert not out.exists()

"""Runs whose files are damaged, or made to do harm: every verb says one sentence, and nothing outside is touched."""

import json
import os
import shutil
from pathlib import Path

import pytest

from commands import bad, good
from regard.checkpoint.atomic import fingerprint
from regard.errors import DataError, RegardError, RunError
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.scores.passport import read_passport
from regard.runs.store.listing import list_runs
from regard.training.reports.metrics_log import read_metrics

ODD = [None, [], {}, "x", 1.5, -1, 10**30, True, [[1]], "\ud800"]


@pytest.fixture
def run(quick_run, tmp_path) -> Run:
    shutil.copytree(quick_run.path, tmp_path / "runs" / "one")
    return Run(tmp_path / "runs" / "one")


def renew(folder: Path) -> None:
    names = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    table = {str(path.relative_to(folder)): fingerprint(path) for path in names}
    (folder / "manifest.json").write_text(json.dumps(table))


def change(path: Path, *keys, value) -> None:
    whole = json.loads(path.read_text())
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(whole))


def key_paths(value, above=()):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*above, name)
            yield from key_paths(inner, (*above, name))
    elif isinstance(value, list) and value:
        yield (*above, 0)
        yield from key_paths(value[0], (*above, 0))


@pytest.mark.parametrize("value", ODD, ids=lambda value: f"{value!r:.12}")
def test_no_value_in_a_record_is_more_than_a_sentence(run, monkeypatch, value):
    """One value of another type, anywhere: the list of runs shows the run all the same, a card or a sentence."""
    monkeypatch.setattr("regard.runs.reports.card.draw_curves", lambda *_: None)
    whole = json.loads((run.path / "run.json").read_text())
    for keys in key_paths({name: whole[name] for name in whole if name not in ("sources", "settings")}):
        (run.path / "run.json").write_text(json.dumps(whole))
        change(run.path / "run.json", *keys, value=value)
        (listed,) = list_runs(run.path.parent)
        try:
            run.card()
        except RegardError as error:
            assert "\n" not in str(error)
            assert listed.state == "unreadable" and listed.reason == str(error)


def test_one_unreadable_run_does_not_hide_the_others(run, quick_run):
    shutil.copytree(quick_run.path, run.path.with_name("two"))
    change(run.path / "run.json", "parameters", value="many")
    said = good("runs", run.path.parent)
    reason = (
        f"{run.path / 'run.json'}: this is not the record of a run that this version of regard can read (parameters: "
        '"many" is not a whole number).'
    )
    assert "unreadable" in said and "finished" in said and said.rstrip().endswith(reason)
    rows = {Path(row["path"]).name: row for row in json.loads(good("runs", run.path.parent, "--json"))}
    assert rows["one"]["reason"] == reason and rows["two"]["reason"] is None and rows["two"]["state"] == "finished"


VERBS = [
    ("translate", "{run}", "ein Hund"),
    ("evaluate", "{run}"),
    ("score", "{run}", "ein Hund", "a dog"),
    ("inspect", "{run}", "ein Hund"),
    ("average", "{run}", "--out", "{run}/mean"),
    ("train", "--resume", "{run}", "train.steps=70"),
    ("export", "{run}", "{run}/there"),
    ("card", "{run}"),
    ("generate", "{run}", "ein"),
    ("classify", "{run}", "ein"),
    ("embed", "{run}", "ein"),
    ("verify-resume", "{run}"),
]


def sentence(verb, run) -> str:
    return bad(*(word.format(run=run.path) for word in verb))


@pytest.mark.parametrize("verb", VERBS[:7], ids=lambda verb: verb[0])
def test_every_verb_says_what_is_wrong_with_an_index(run, verb):
    (run.path / "checkpoints" / "index.json").write_text('{"kept": {"../../../victim": 1.0}}')
    assert "is not the name of a file in this folder" in sentence(verb, run)
    (run.path / "checkpoints" / "index.json").write_text('{"kept": [1]}')
    assert "this is not an index of checkpoints (kept: [1] is not a JSON object)" in sentence(verb, run)


@pytest.mark.parametrize("verb", [*VERBS[:4], *VERBS[6:7], *VERBS[8:11]], ids=lambda verb: verb[0])
def test_every_verb_says_what_is_wrong_with_a_config(run, verb):
    change(run.best / "config.json", "vocabularies", "target", value=None)
    renew(run.best)
    said = sentence(verb, run)
    assert said == (
        f"{run.best / 'config.json'}: this is not the config of a regard checkpoint (vocabularies.target: null is "
        "not a whole number); copy it again."
    )


@pytest.mark.parametrize("verb", [("card", "{run}"), VERBS[5], ("runs", "delete", "{run}", "--yes")])
def test_every_verb_says_what_is_wrong_with_a_record(run, verb):
    for value in (None, 5, "x", [], {}):
        shutil.copy(run.path / "run.json", run.path.parent / "kept.json")
        change(run.path / "run.json", "settings", value=value)
        assert f"{run.path / 'run.json'}: this is not the record of a run" in sentence(verb, run)
        shutil.copy(run.path.parent / "kept.json", run.path / "run.json")


def test_settings_that_cannot_be_resumed_are_one_sentence(run):
    change(run.path / "run.json", "settings", "train", "steps", value="many")
    change(run.path / "run.json", "settings", "train", "warmup", value=[])
    assert sentence(VERBS[5], run).startswith(f"{run.path / 'run.json'}: these settings cannot be resumed: train.")


@pytest.mark.parametrize("keys", [("loop",), ("loop", "step"), ("loop", "position"), ("window", "sums")])
def test_a_state_of_training_of_other_types_is_a_sentence(run, keys):
    for value in (None, [1]):
        for name in run.checkpoints.index.kept:
            folder = run.path / "checkpoints" / name
            if (folder / "training").is_dir():
                change(folder / "training" / "state.json", *keys, value=value)
                renew(folder)
        with pytest.raises(RegardError, match=rf"state.json: this is not the state of training \({'.'.join(keys)}"):
            resume(run.path, {"train.steps": 70})


def test_an_optimizer_of_another_model_is_a_sentence(run):
    from safetensors.torch import load_file, save_file

    path = run.latest / "training" / "optimizer.safetensors"
    tensors = load_file(path)
    name = next(each for each in tensors if each.endswith("/exp_avg"))
    for odd in (
        {each: tensor for each, tensor in tensors.items() if each != name},
        tensors | {"optimizer/nothing/exp_avg": tensors[name].clone()},
        tensors | {name: tensors[name][:1].clone()},
        {f"{each}x": tensor for each, tensor in tensors.items()},
    ):
        save_file(odd, path)
        renew(run.latest)
        with pytest.raises(RegardError, match=r"optimizer.safetensors: it does not fit the run"):
            resume(run.path, {"train.steps": 70})


def test_figures_that_are_no_numbers_are_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [
        '{"step": 1, "valid_loss": "low", "seconds": 2.5}',
        '{"step": "two", "valid_loss": 1.0}',
        '{"step": 3, "valid_loss": null, "note": [1]}',
        "[4]",
        "[" * 5000,
        '{"step": 5, "valid_loss": 0.5, "x": true, "y": ' + "9" * 400 + "}",
        '{"step": 6, "valid_loss": NaN}',
    ]
    path.write_text("\n".join(lines) + "\n")
    lines = read_metrics(path)
    assert lines[:3] == [{"step": 1, "seconds": 2.5}, {"step": 3}, {"step": 5, "valid_loss": 0.5}]
    assert lines[3]["step"] == 6 and len(lines) == 4


def test_metrics_of_other_types_stop_neither_the_list_nor_the_card_nor_going_on(run):
    (run.path / "metrics.jsonl").write_text('{"step": [], "valid_loss": 1}\n{"step": 1, "valid_loss": {}}\n')
    record = json.loads((run.path / "run.json").read_text())
    del record["scores"]
    (run.path / "run.json").write_text(json.dumps(record))
    assert list_runs(run.path)[0].score is None
    good("card", run.path)
    resume(run.path, {"train.steps": 61})
    assert read_metrics(run.path / "metrics.jsonl")[0]["step"] == 1


@pytest.mark.parametrize("name", ["../../../victim.txt", "/etc/passwd", "", "a/b", "\x00"])
def test_the_outputs_of_a_passport_lie_beside_it(run, name):
    passport = run.path / "scores" / "test.json"
    change(passport, "outputs", "file", value=name)
    with pytest.raises(DataError, match=r"this is not a score passport \(outputs.file: "):
        read_passport(passport)


@pytest.mark.parametrize("value", ODD[:-1], ids=lambda value: f"{value!r:.12}")
def test_a_passport_of_other_types_is_no_passport(run, value, monkeypatch):
    monkeypatch.setattr("regard.runs.reports.card.draw_curves", lambda *_: None)
    passport = run.path / "scores" / "test.json"
    whole = passport.read_text()
    for keys in key_paths(json.loads(whole)):
        passport.write_text(whole)
        change(passport, *keys, value=value)
        try:
            read_passport(passport)
        except DataError as error:
            assert "\n" not in str(error)
        run.card()


def test_a_pipe_in_the_place_of_a_file_is_never_waited_for(run):
    for path, words in ((run.path / "run.json", ("card",)), (run.best / "config.json", ("translate",))):
        path.unlink()
        os.mkfifo(path)
        assert "plain file" in (said := bad(*words, run.path, *(["x"] if words == ("translate",) else []))) or said
        path.unlink()


def test_a_checkpoints_folder_that_is_a_link_is_neither_written_nor_cleared(run, tmp_path):
    victim = tmp_path / "victim"
    (run.path / "checkpoints").rename(victim)
    (run.path / "checkpoints").symlink_to(victim)
    before = sorted(str(path) for path in victim.rglob("*"))
    with pytest.raises(RegardError, match="this is a link to"):
        resume(run.path, {"train.steps": 70})
    assert sorted(str(path) for path in victim.rglob("*")) == before


def test_an_old_pid_past_all_bounds_is_no_process(run):
    change(run.path / "run.json", "process", value={"pid": 2**70, "host": os.uname().nodename})
    change(run.path / "run.json", "state", value="running")
    with pytest.raises(RunError, match="process.pid"):
        _ = run.record

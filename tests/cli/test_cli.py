import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard import __version__
from regard.cli.main import app, main
from regard.errors import RegardError

VERBS = [
    *(
        "quickstart",
        "doctor",
        "train",
        "race",
        "translate",
        "evaluate",
        "score",
        "average",
        "verify-resume",
        "bleu",
        "runs",
    ),
    *("card", "export", "import", "tokenizer", "recipes", "presets", "config", "data"),
]

TINY = [
    "model.width=16",
    "model.feed_forward_width=32",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "text.size=600",
    "train.tokens_per_update=300",
    "train.warmup=2",
    "validation.bleu_sentences=3",
]


def call(*words, stdin=None):
    """Run the command line in this process and return what happened."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin, catch_exceptions=True)


def good(*words, stdin=None) -> str:
    result = call(*words, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def outside(*words, **options):
    """Run the command line in a process of its own, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, words)], capture_output=True, text=True, timeout=120, **options
    )


def bad(*words, stdin=None) -> str:
    """Run a mistake in a process of its own: exit code 2, one sentence, no traceback."""
    done = outside(*words, input=stdin)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and done.stdout == ""
    assert done.stderr.startswith("regard: ") and done.stderr.count("\n") == 1
    return done.stderr.removeprefix("regard: ").strip()


def test_the_verbs_are_these():
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert sorted(names) == sorted(VERBS)
    text = good("--help")
    assert all(verb in text for verb in VERBS)


@pytest.mark.parametrize(
    "words",
    [
        *([verb] for verb in VERBS),
        ["tokenizer", "train"],
        ["config", "show"],
        ["data", "miniature"],
        ["runs", "list"],
        ["runs", "delete"],
    ],
)
def test_every_verb_explains_itself(words):
    assert "Usage" in good(*words, "--help")


def test_version():
    assert good("--version") == f"regard {__version__}\n"


def test_recipes_and_presets_are_listed():
    assert "translate-miniature\ttranslate\t" in good("recipes")
    assert {"name", "task", "about"} == set(json.loads(good("recipes", "--json"))[0])
    counts = {row["preset"]: row["parameters"] for row in json.loads(good("presets", "--json"))}
    assert counts["transformer-base"] == 63_082_496
    assert "63,082,496" in good("presets")


def test_config_show_prints_every_value_and_its_source():
    rows = dict(line.split("\t", 1) for line in good("config", "show", "translate-miniature", "seed=7").splitlines())
    assert rows["seed"] == "7\tthe command line"
    assert rows["model.heads"] == "4\tpreset transformer-tiny"
    assert rows["task"] == '"translate"\trecipe translate-miniature'
    assert rows["train.clip_norm"] == "1.0\tdefault"
    found = json.loads(good("config", "show", "translate-miniature", "--json"))
    assert found["model.width"]["source"].startswith(("preset", "recipe"))


def test_miniature_pairs_are_printed():
    lines = good("data", "miniature", "--count", 5).splitlines()
    assert len(lines) == 5 and all(line.count("\t") == 1 for line in lines)
    (row,) = (
        json.loads(line) for line in good("data", "miniature", "--count", 1, "--split", "test", "--json").splitlines()
    )
    assert set(row) == {"source", "target"}


def test_a_tokenizer_is_trained_and_shown(tmp_path):
    text = tmp_path / "a.txt.gz"
    text.write_bytes(gzip.compress("Der Hund schläft. Der Hund spielt.\n".encode() * 5))
    out = tmp_path / "deep" / "tokenizer.json"
    said = good("tokenizer", "train", text, "--kind", "bpe", "--size", 60, "--out", out)
    assert "pieces a word, 0 unknown pieces." in said
    rows = [line.split("\t") for line in good("tokenizer", "show", out, "Der Hund!").splitlines()]
    assert rows[0] == ["piece", "id", "offsets", "text"] and rows[1][0].startswith("▁")
    found = json.loads(good("tokenizer", "show", out, "Der Hund", "--json"))
    assert found["decoded"] == "Der Hund" and len(found["ids"]) == len(found["offsets"]) == len(found["pieces"])


def test_bleu_of_files_and_of_sentences(tmp_path):
    (tmp_path / "hyp").write_text("The guard arrived late because of the rain\n")
    (tmp_path / "ref").write_text("The guard arrived late because it was raining\n")
    text = good("bleu", tmp_path / "hyp", tmp_path / "ref", "--explain")
    assert "BLEU-1 0.625  BLEU-2 0.598  BLEU-3 0.563  BLEU-4 0.517" in text
    assert "2\t4\t4\t7\t0.5714" in text
    assert "brevity penalty 1.0000 (e^(1 - r/c)), c = 8, r = 8" in text
    assert "The guard arrived late\t1\t1\t1" in text
    words = ("bleu", "--text", "He He He eats tasty fruit", "He eats a sweet apple", "He is eating a tasty apple")
    found = json.loads(good(*words, "--json", "--explain"))
    assert found["precisions"][0]["clipped"] == 3 and found["bleu_4"] == 0
    he = next(match for match in found["matches"]["1"] if match["ngram"] == ["He"])
    assert (he["count"], he["in_references"], he["clipped"]) == (3, [1, 1], 1)


def test_translate_keeps_order_and_blank_lines(quick_run, tmp_path):
    path = tmp_path / "in.de"
    path.write_text("Der Hund schläft.\n\nAnna liest ein Buch.\n")
    from_file = good("translate", quick_run.path, "--file", path, "--quiet").split("\n")
    assert len(from_file) == 4 and from_file[1] == "" and from_file[0] and from_file[2] and from_file[3] == ""
    from_pipe = good("translate", quick_run.path, "--quiet", stdin="Der Hund schläft.\n\nAnna liest ein Buch.\n")
    from_words = good("translate", quick_run.path, "Der Hund schläft.", "", "Anna liest ein Buch.", "--quiet")
    assert from_pipe.split("\n") == from_words.split("\n") == from_file
    assert good("translate", quick_run.path, stdin="") == ""


def test_translate_gives_scores_and_candidates_as_json(quick_run):
    lines = good(
        "translate", quick_run.path, "--json", "--beams", 4, "--n-best", 3, "-q", stdin="Der Hund schläft.\n\n"
    )
    first, blank = (json.loads(line) for line in lines.splitlines())
    assert {"source", "text", "score", "tokens", "candidates"} == set(first)
    assert len(first["candidates"]) == 3 and first["candidates"][0]["text"] == first["text"]
    assert blank["text"] == "" and blank["candidates"] == []


def test_evaluate_prints_signatures_and_json(quick_run, tmp_path):
    text = good("evaluate", quick_run.path, "--beams", 1, "--quiet")
    assert "BLEU: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in text and "unseen-depth" in text
    (tmp_path / "p.tsv").write_text("Der Hund schläft.\tThe dog sleeps.\n")
    found = json.loads(good("evaluate", quick_run.path, "--data", tmp_path / "p.tsv", "--json", "--quiet"))
    (only,) = found.values()
    assert {"BLEU", "chrF", "TER"} == {score["name"] for score in only["scores"]}
    assert {"loss", "perplexity", "sentences_per_second", "decode", "sentences"} <= set(only)


def corpus(folder, count=120):
    from regard.data import miniature

    pairs = miniature.pairs("train", count)
    (folder / "a.de").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "a.en").write_text("".join(pair.target + "\n" for pair in pairs))
    return ["--source", folder / "a.de", "--target", folder / "a.en"]


def test_train_from_two_files(tmp_path):
    files = corpus(tmp_path)
    out = tmp_path / "run"
    text = good("train", "translate", *files, "--out", out, "--seed", 5, "--quiet", "train.steps=3", *TINY)
    assert f"Use it: regard translate {out} TEXT" in text and "BLEU" in text
    record = json.loads((out / "run.json").read_text())
    assert record["settings"]["seed"] == 5 and record["state"] == "finished"
    found = json.loads(good("train", "--resume", out, "train.steps=5", "--json", "--quiet"))
    assert found["steps"] == 5 and "valid" in found["scores"]


def test_a_changed_file_is_forced_by_the_command_line(tmp_path):
    files = corpus(tmp_path)
    out = tmp_path / "run"
    good("train", "translate", *files, "--out", out, "--quiet", "train.steps=3", *TINY)
    (tmp_path / "a.de").write_text((tmp_path / "a.de").read_text().replace("e", "a", 1))
    assert bad("train", "--resume", out, "train.steps=5") == (
        f"{tmp_path / 'a.de'}: the file changed since the run began, so going on would not be the same run; bring it "
        "back, start a new run, or go on regardless with --force."
    )
    assert json.loads(good("train", "--resume", out, "--force", "train.steps=5", "--json", "-q"))["steps"] == 5
    result = call("train", "translate", "--force")
    assert str(result.exception) == "--force goes with --resume; to replace a run that is there, say --overwrite."


def test_resume_is_verified_and_a_difference_is_exit_code_1(tmp_path, monkeypatch):
    files = dict(zip(("source", "target"), corpus(tmp_path)[1::2]))
    words = ["verify-resume", "translate", *(f"data.train.{side}={path}" for side, path in files.items()), *TINY]
    text = good(*words, "--steps", 4, "--quiet")
    assert text == (
        "what\tlargest difference\nweights\t0\noptimizer\t0\nlosses\t0\n"
        "4 steps, interrupted after 2, on cpu: the same to the bit.\n"
    )
    monkeypatch.setattr("regard.training.loop.restore_optimizer", lambda *_: None)
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
    assert str(call("average", *named).exception) == "Say with --out where the mean of several checkpoints goes."
    assert str(call("average", *named, "--count", 2, "--out", tmp_path / "x").exception) == (
        "--count 2 is for the checkpoints of one run; here each is named."
    )


def test_a_dry_run_writes_nothing(tmp_path, monkeypatch):
    files = corpus(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan = json.loads(good("train", "translate", *files, "--dry-run", "--json", "--quiet", *TINY))
    assert plan["train_pairs"] + plan["valid_pairs"] == 120 and plan["updates_per_epoch"] >= 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.de", "a.en"]


def test_progress_goes_to_standard_error_and_results_to_standard_output(tmp_path):
    files = corpus(tmp_path)
    done = outside("train", "translate", *files, "--out", tmp_path / "run", "train.steps=2", *TINY)
    assert done.returncode == 0
    assert "pairs kept" in done.stderr and "pairs kept" not in done.stdout
    assert "\x1b[" not in done.stderr + done.stdout


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    files = [str(word) for word in corpus(tmp_path)]
    out = tmp_path / "run"
    words = ["train", "translate", *files, "--out", str(out), "train.steps=100000", "train.validate_every=5", *TINY]
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (out / "checkpoints" / "index.json").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in errors
    assert f"everything is saved.\nGo on: regard train --resume {out}" in errors
    record = json.loads((out / "run.json").read_text())
    assert record["state"] == "interrupted"
    done = outside("train", "--resume", out, f"train.steps={record['steps'] + 3}", "--quiet")
    assert done.returncode == 0 and json.loads((out / "run.json").read_text())["steps"] == record["steps"] + 3


def test_a_closed_pipe_is_no_crash(quick_run):
    command = f"{sys.executable} -m regard data miniature --count 20000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr


MISTAKES = {
    "missing file": (
        ["train", "translate", "--source", "no.de", "--target", "no.en"],
        "no.de: there is no such file (looked in {cwd}); check the path.",
    ),
    "unknown recipe": (
        ["train", "translate-minature"],
        'There is no recipe "translate-minature" (a file would end in .toml); did you mean translate-miniature?',
    ),
    "unknown key": (
        ["train", "translate-miniature", "train.stepps=5"],
        "train.stepps: unknown setting, given as 5 (from the command line); did you mean train.steps?",
    ),
    "wrong type": (
        ["config", "show", "translate-miniature", "train.steps=many"],
        'train.steps: "many" is not a whole number (from the command line).',
    ),
    "impossible sizes": (
        ["config", "show", "translate-miniature", "model.heads=7"],
        "model.heads: 7 does not divide width 96; choose another, or set head_width.",
    ),
    "no key=value": (
        ["train", "translate-miniature", "steps"],
        '"steps" is not a setting: write it as key=value, for example train.steps=1000.',
    ),
    "nothing to train": (
        ["train"],
        "Say what to train: a recipe's name, a TOML file or a task; regard recipes lists them.",
    ),
    "no data": (
        ["train", "translate"],
        "task translate: it does not say what to learn from; give --source FILE --target FILE, or --data FILE "
        "(data.train in a recipe).",
    ),
    "half of the data": (
        ["train", "translate", "--source", "a.de"],
        "data.train.target: give both source and target, or a path that holds both.",
    ),
    "no run": (
        ["translate", "runs/nothing", "Ja."],
        "runs/nothing: there is no run or checkpoint here; check the path.",
    ),
    "no device": (
        ["train", "translate-miniature", "--device", "tpu"],
        'machine.device: "tpu" is not one of auto, cpu, cuda, cuda:N, mps.',
    ),
    "unknown split": (
        ["data", "miniature", "--split", "tests"],
        'split: "tests" is not one of train, valid, test, unseen-pairs, unseen-cases, unseen-depth.',
    ),
    "unknown kind": (
        ["tokenizer", "train", "{file}", "--kind", "bpee"],
        "kind: \"bpee\" is not one of 'bpe', 'wordpiece', 'unigram', 'word' or 'char' (from the command line).",
    ),
    "beams": (["translate", "runs/x", "Ja.", "--beams", "0"], None),
    "no such option": (["train", "--stepps", "5"], None),
    "a number that is none": (["train", "translate", "--seed", "x"], None),
    "resume and dry run": (
        ["train", "--resume", "runs/x", "--dry-run"],
        "--dry-run has no meaning with --resume runs/x; leave it out.",
    ),
    "no room for the model": (
        [
            "train",
            "translate-miniature",
            "data.train.count=50",
            "text.size=600",
            "model.feed_forward_width=1000000000000",
        ],
        None,
    ),
    "best by a figure that is not measured": (
        ["train", "translate-miniature", "train.select_by=bleu", "validation.bleu_sentences=0"],
        'train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.',
    ),
    "shared embeddings of two vocabularies": (
        ["train", "translate-miniature", "model.embeddings=shared"],
        'model.embeddings: "shared" needs one vocabulary for both languages; say text.vocabularies=shared, or '
        'model.embeddings="target".',
    ),
    "too few numbers": (
        ["config", "show", "translate-miniature", "train.betas=[0.9]"],
        "train.betas: [0.9] has the wrong number of values (from the command line).",
    ),
    "resume and recipe": (
        ["train", "translate", "--resume", "runs/x"],
        '--resume runs/x goes on with that run\'s own recipe; leave out "translate".',
    ),
    "bleu of different lengths": (
        ["bleu", "{file}", "{other}"],
        "{file} has 1 lines but {other} has 2; each line must be the translation of its neighbour.",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_code_2(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = {"file": "one.txt", "other": "two.txt", "cwd": str(tmp_path)}
    (tmp_path / "one.txt").write_text("a\n")
    (tmp_path / "two.txt").write_text("a\nb\n")
    words, expected = MISTAKES[name]
    said = bad(*(word.format(**places) for word in words))
    assert expected is None or said == expected.format(**places)
    assert {path.name for path in tmp_path.iterdir()} == {"one.txt", "two.txt"}


def test_mistakes_with_files_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.de").write_text("eins\nzwei\ndrei\n")
    (tmp_path / "a.en").write_text("one\n\ntwo\nthree\n")
    assert bad("train", "translate", "--source", "a.de", "--target", "a.en") == (
        "a.de has 3 lines but a.en has 4, and line 2 is blank in a.en only, so the shift may begin there; each line "
        "must be the translation of its neighbour."
    )
    (tmp_path / "b.en").write_bytes(b"one\ntwo\n\xff\n")
    assert bad("train", "translate", "--source", "a.de", "--target", "b.en").startswith("b.en: line 3 is not UTF-8")
    (tmp_path / "empty").write_text("")
    (tmp_path / "void").write_text("")
    assert bad("train", "translate", "--source", "empty", "--target", "void") == (
        "empty and void: there are no sentence pairs in it."
    )
    assert bad("train", "translate", "--source", "a.de", "--target", "a.de") == (
        'data.train.target: "a.de" is the source too; give the file with the translations.'
    )
    (tmp_path / "u.de").write_text("eins\n", encoding="utf-16")
    assert bad("train", "translate", "--source", "u.de", "--target", "a.en") == (
        "u.de: this is UTF-16; convert it with iconv -f utf-16 -t utf-8."
    )
    assert bad("translate", "a.de", "Ja.") == "a.de: this is neither a run nor a checkpoint."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.de", "a.en", "b.en", "empty", "u.de", "void"]


def test_mistakes_with_a_run(quick_run):
    assert bad("train", "translate-miniature", "--out", quick_run.path).startswith(
        f"{quick_run.path}: there is a run here already (finished); go on with --resume"
    )
    assert bad("translate", quick_run.path, "Ja.", "--n-best", "9") == (
        "--n-best 9 is more than the 5 beams; raise --beams."
    )
    done = outside("translate", quick_run.path, input=b"gut\n".decode("latin1"))
    assert done.returncode == 0
    raw = subprocess.run(
        [sys.executable, "-m", "regard", "translate", str(quick_run.path)],
        input=b"gut\nsch\xf6n\n",
        capture_output=True,
    )
    assert raw.returncode == 2 and b"standard input: line 2 is not UTF-8 (byte 0xf6)." in raw.stderr


def test_mistakes_with_a_checkpoint(quick_run, tmp_path):
    import shutil

    newer, cut = tmp_path / "newer", tmp_path / "cut"
    shutil.copytree(quick_run.best, newer)
    config = json.loads((newer / "config.json").read_text())
    (newer / "config.json").write_text(json.dumps(config | {"format": 2, "regard": "9.0.0"}))
    assert bad("translate", newer, "Ja.") == (
        f"{newer}: written in format 2 by regard 9.0.0, but regard {__version__} reads formats up to 1; upgrade with "
        "pip install -U regard."
    )
    shutil.copytree(quick_run.best, cut)
    weights = cut / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-10])
    assert bad("evaluate", cut, "--data", "miniature:test") == (
        f"{weights}: damaged, it has {size - 10:,} bytes of {size:,}; copy it again or use another checkpoint."
    )


def test_text_that_is_too_long_is_one_sentence(tmp_path):
    files = corpus(tmp_path)
    learned = ["model.positions=learned", "model.max_positions=60", "train.steps=2"]
    good("train", "translate", *files, "--out", tmp_path / "run", "--quiet", *learned, *TINY)
    said = bad("translate", tmp_path / "run", "--quiet", stdin="Ja.\n" + "sehr " * 300 + "\n")
    assert said.startswith("line 2 has ") and said.endswith(
        "tokens, but this model takes 60 at most; split it into sentences."
    )


def test_a_full_disk_is_one_sentence(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "a.txt").write_text("ein Hund\n" * 5)
    said = bad("tokenizer", "train", tmp_path / "a.txt", "--size", 30, "--out", "/dev/full")
    assert said == "/dev/full: the tokenizer cannot be written (No space left on device)."


def test_main_is_the_entry_point(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["regard", "train", "nothing-like-it"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "There is no recipe" in capsys.readouterr().err


def test_a_line_in_is_a_line_out_whatever_the_model_says(quick_run, monkeypatch):
    from regard.text import Tokenizer

    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "one\ntwo\u2028three")
    assert good("translate", quick_run.path, "Ja.", "Nein.").splitlines() == ["one two three"] * 2


def test_a_line_is_named_by_its_number_in_the_whole_input(tmp_path, pairs):
    import regard

    tiny = dict(word.split("=") for word in TINY)
    learned = {"model.positions": "learned", "model.max_positions": 40, "train.steps": 1}
    overrides = {key: int(value) for key, value in tiny.items()} | learned
    run = regard.train(pairs, overrides | {"train.warmup": 0}, out=tmp_path / "run")
    text = "Ja.\n" * 600 + "Ja. " * 50 + "\n"
    result = call("translate", run.path, "--quiet", stdin=text)
    assert str(result.exception).startswith("line 601 has ") and result.stdout.count("\n") == 512


def test_any_text_can_be_printed_anywhere(tmp_path):
    words = [sys.executable, "-m", "regard", "data", "miniature", "--count", "40"]
    plain = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"}
    done = subprocess.run(words, capture_output=True, env=plain)
    assert done.returncode == 0 and "ä" in done.stdout.decode()


def test_a_text_that_is_no_text_is_told(quick_run):
    words = [sys.executable, "-m", "regard", "translate", str(quick_run.path), b"sch\xf6n"]
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 2 and done.stderr == b"regard: line 1 is not UTF-8 text; convert it first.\n"


def test_the_defaults_of_a_task_can_be_shown():
    shown = json.loads(good("config", "show", "translate", "--json"))
    assert shown["data.train.path"]["value"] == "(required)" and shown["train.steps"]["source"] == "default"


def test_values_may_be_spelled_as_people_do():
    words = ["text.lowercase=True", "model.dropout=.2", "train.steps=1e3"]
    shown = json.loads(good("config", "show", "translate-miniature", *words, "--json"))
    values = [shown[word.partition("=")[0]]["value"] for word in words]
    assert values == [True, 0.2, 1000]


def test_a_tokenizer_is_not_overwritten_unless_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("ein Hund\n" * 5)
    words = ["tokenizer", "train", tmp_path / "a.txt", "--size", 30, "--out", tmp_path / "t.json", "--quiet"]
    good(*words)
    assert bad(*words) == (
        f"{tmp_path / 't.json'}: this exists already; choose another file with --out, or say --overwrite."
    )
    good(*words, "--overwrite")


def test_ctrl_c_before_training_is_one_word_and_leaves_nothing(tmp_path):
    words = ["train", "translate-miniature", "--out", str(tmp_path / "run"), "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-m", "regard", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    ) as process:
        time.sleep(4)  # well inside the making of its sentences
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130 and errors == "regard: stopped.\n" and not (tmp_path / "run").exists()


def test_translate_draws_begins_and_lists(quick_run):
    words = ("translate", quick_run.path, "Der Hund schläft.", "-q")
    draws = [good(*words, "--sample", "--temperature", 0.8, "--top-p", 0.9, "--seed", seed) for seed in (1, 1, 2, 3)]
    assert draws[0] == draws[1] and len(set(draws)) > 1
    found = json.loads(good(*words, "--sample", "--n-best", 3, "--json"))
    assert len(found["candidates"]) == 3
    assert good(*words, "--prefix", "The small").startswith("The small")
    rows = [line.split("\t") for line in good(*words, "--prefix", "The", "--alternatives", 3).splitlines()]
    assert rows[0] == ["probability", "token", "translation"] and len(rows) == 4
    assert all(row[2].startswith("The") for row in rows[1:])
    assert len(json.loads(good(*words, "--alternatives", 2, "--json"))) == 2
    assert good(*words, "--ensemble", quick_run.best) == good(*words)
    short = json.loads(good(*words, "--max-length", 4, "--min-length", 4, "--no-repeat-ngram", 1, "--json"))
    assert len(short["tokens"]) in (3, 4) and len(set(short["tokens"])) == len(short["tokens"])
    rest = ("--length-penalty", "gnmt", "--length-alpha", 0.6, "--coverage-penalty", 0.2, "--repetition-penalty", 1.2)
    assert good(*words, *rest).strip()


def test_draws_from_a_pipe_are_those_of_a_file(quick_run, tmp_path, monkeypatch):
    from regard.cli import translate

    text = "Der Hund schläft.\n\n" * 4
    (tmp_path / "a.de").write_text(text)
    words = ("translate", quick_run.path, "-q", "--sample", "--seed", 3)
    whole = good(*words, "--file", tmp_path / "a.de")
    monkeypatch.setattr(translate, "CHUNK", 3)
    assert good(*words, stdin=text) == whole and len(set(whole.split("\n"))) > 2


def test_score_tells_how_probable_translations_are(quick_run, tmp_path):
    (tmp_path / "a.de").write_text("Der Hund schläft.\nAnna liest.\n")
    (tmp_path / "a.en").write_text("The dog sleeps.\nAnna reads.\n")
    found = json.loads(good("score", quick_run.path, tmp_path / "a.de", tmp_path / "a.en", "--json", "-q"))
    first = found["sentences"][0]
    assert abs(sum(first["log_probabilities"]) - first["log_probability"]) < 1e-6
    assert found["tokens"] == sum(len(each["tokens"]) for each in found["sentences"])
    lines = good("score", quick_run.path, tmp_path / "a.de", tmp_path / "a.en", "-q").splitlines()
    assert lines[1].split("\t")[3] == "The dog sleeps." and lines[-1].startswith("perplexity ")
    alone = json.loads(
        good("score", quick_run.path, "Der Hund schläft.", "The dog sleeps.", "--text", "--json", "-q")
    )
    assert abs(alone["log_probability"] - first["log_probability"]) < 1e-4
    (tmp_path / "b.en").write_text("One.\n")
    assert refused("score", quick_run.path, tmp_path / "a.de", tmp_path / "b.en").startswith(
        f"{tmp_path / 'a.de'} has 2 lines but {tmp_path / 'b.en'} has 1"
    )


def refused(*words) -> str:
    """Run a mistake in this process, which is faster, and return what a user would read."""
    result = call(*words)
    assert isinstance(result.exception, RegardError) and result.stdout == ""
    return str(result.exception)


def test_contradictions_in_decoding_are_one_sentence(quick_run, tmp_path):
    words = ("translate", quick_run.path, "Ja.")
    assert (
        refused(*words, "--sample", "--beams", 4) == 'beams: 4 is for a search; leave it out, or say method "beam".'
    )
    assert refused(*words, "--top-p", 0.9) == 'top_p: 0.9 is for drawing; say method "sample" too, or leave it out.'
    assert refused(*words, "--n-best", 2) == (
        "--n-best 2 lists candidates with --json only; add it, or leave --n-best out."
    )
    assert refused("translate", quick_run.path, "--alternatives", 2) == (
        "--alternatives looks at one text; give it behind the run."
    )
    assert refused("config", "show", "translate-miniature", "decode.min_length=9", "decode.max_length=5") == (
        "decode.min_length: 9 is more than max_length 5."
    )
    said = bad("translate", quick_run.path, "-q", stdin="Ja.\n" + "sehr " * 20_000 + "\n")
    assert said.startswith("line 2 has 2") and "more than decode.max_source_length 1,024" in said

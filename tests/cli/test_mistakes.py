"""What a user did wrong is one sentence with a way out."""

import json
import shutil
from pathlib import Path

import pytest

from commands import bad, outside
from regard import __version__

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
        "There is no recipe; give a recipe name, a TOML file or a task (see regard recipes).",
    ),
    "no data": (
        ["train", "translate"],
        "task translate: it names no training data; give --source FILE --target FILE, or --data FILE "
        "(data.train in a recipe).",
    ),
    "half of the data": (
        ["train", "translate", "--source", "a.de"],
        "data.train.target: give both source and target, or a path that holds both.",
    ),
    "data of another task": (
        ["train", "language-model", "--source", "a.de", "--target", "a.en"],
        'data.train.source: "a.de" (--source) is not for the task language-model; give it --text FILE or '
        "--text FOLDER, or --data FILE of prompts and completions.",
    ),
    "text of another task": (
        ["train", "translate-miniature", "--text", "books"],
        'data.train.paths: ["books"] (--text) is not for the task translate; give it --source FILE --target FILE, '
        "or --data FILE.",
    ),
    "data set without a name": (
        ["train", "language-model", "--text", "hf:"],
        "hf:: the name of the data set is missing; write hf:NAME, or hf: and a folder.",
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
    "split without stories": (
        ["data", "miniature", "--stories", "--split", "unseen-depth"],
        'split: "unseen-depth" is not one of train, valid, test, which have stories.',
    ),
    "unknown kind": (
        ["tokenizer", "train", "{file}", "--kind", "bpee"],
        "kind: \"bpee\" is not one of 'bpe', 'wordpiece', 'unigram', 'word' or 'char' (from --kind).",
    ),
    "beam_size": (["translate", "runs/x", "Ja.", "--beam-size", "0"], None),
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
            "data.train.max_rows=50",
            "data.valid.max_rows=5",
            *(f"data.test.{name}.max_rows=5" for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")),
            "text.size=600",
            "model.feed_forward_width=1000000000000",
            "preflight=false",
            "--quiet",
        ],
        None,
    ),
    "best by a figure that is not measured": (
        ["train", "translate-miniature", "train.select_by=bleu", "validation.bleu_sentences=0"],
        'train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.',
    ),
    "shared embeddings of two vocabularies": (
        ["train", "translate-miniature", "model.embeddings=shared"],
        'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, or '
        'model.embeddings="target".',
    ),
    "too few numbers": (
        ["config", "show", "translate-miniature", "train.betas=[0.9]"],
        "train.betas: [0.9] has the wrong number of values (from the command line).",
    ),
    "resume and recipe": (
        ["train", "translate", "--resume", "runs/x"],
        '--resume runs/x uses the recipe of that run; leave out "translate".',
    ),
    "a run that is not there": (
        ["evaluate", "runs/x", "--target-column", "3"],
        "runs/x: there is no run or checkpoint here; check the path.",
    ),
    "bleu of different lengths": (
        ["bleu", "{file}", "{other}"],
        "{file} has 1 lines but {other} has 2; each line must be the translation of the same line in the other file.",
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
        "must be the translation of the same line in the other file."
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
    assert bad("translate", "a.de", "Ja.") == "a.de: this is neither a run nor a checkpoint; name the folder of one."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.de", "a.en", "b.en", "empty", "u.de", "void"]


def test_mistakes_with_a_run(quick_run):
    assert bad("train", "translate-miniature", "--out", quick_run.path).startswith(
        f"{quick_run.path}: there is a run here already (finished); resume it with --resume"
    )
    assert bad("translate", quick_run.path, "Ja.", "--n-best", "9") == (
        "n_best: 9 is more than beam_size 5; raise that."
    )
    assert bad("translate", quick_run.path, stdin=b"gut\nsch\xf6n\n") == (
        "standard input: line 2 is not UTF-8 (byte 0xf6)."
    )


def test_mistakes_with_a_checkpoint(quick_run, tmp_path):

    newer, cut = tmp_path / "newer", tmp_path / "cut"
    shutil.copytree(quick_run.best, newer)
    config = json.loads((newer / "config.json").read_text())
    (newer / "config.json").write_text(json.dumps(config | {"format": 3, "regard": "9.0.0"}))
    assert bad("translate", newer, "Ja.") == (
        f"{newer}: written in format 3 by regard 9.0.0, but regard {__version__} reads formats up to 2; upgrade with "
        "pip install -U regard."
    )
    shutil.copytree(quick_run.best, cut)
    weights = cut / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-10])
    assert bad("evaluate", cut, "--data", "miniature:test") == (
        f"{weights}: damaged, it has {size - 10:,} bytes of {size:,}; copy it again or use another checkpoint."
    )


def test_a_full_disk_is_one_sentence(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "a.txt").write_text("ein Hund\n" * 5)
    said = bad("tokenizer", "train", tmp_path / "a.txt", "--size", 30, "--out", "/dev/full")
    assert said == "/dev/full: the tokenizer cannot be written (No space left on device)."


def test_a_mistake_in_a_process_of_its_own_leaves_no_traceback():
    done = outside("train", "nothing-like-it")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("regard: There is no recipe") and done.stderr.count("\n") == 1

import gzip
import json
import subprocess
import sys

import pytest

from commands import bad, good
from regard import __version__
from regard.cli.main import app

VERBS = [
    *(
        "quickstart",
        "doctor",
        "train",
        "transfer",
        "inspect",
        "race",
        "translate",
        "classify",
        "regress",
        "tag",
        "answer",
        "choose",
        "generate",
        "fill",
        "embed",
        "similar",
        "vectors",
        "features",
        "evaluate",
        "score",
        "average",
        "verify-resume",
        "bleu",
        "runs",
    ),
    *("card", "export", "convert", "import", "tokenizer", "recipes", "presets", "config", "data"),
]


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
        *(["vectors", verb] for verb in ("neighbors", "similarity", "analogy", "odd-one-out", "evaluate", "map")),
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


def test_miniature_stories_are_printed_with_a_blank_line_after_each():
    text = good("data", "miniature", "--stories", "--count", 3)
    found = text.split("\n\n")
    assert len(found) == 4 and all(story.count("\n") == 1 for story in found[:3])
    lines = good("data", "miniature", "--stories", "--count", 3, "--json").splitlines()
    assert [json.loads(line) for line in lines] == [{"text": story} for story in found[:3]]


def test_a_tokenizer_is_trained_and_shown(tmp_path):
    text = tmp_path / "a.txt.gz"
    text.write_bytes(gzip.compress("Der Hund schläft. Der Hund spielt.\n".encode() * 5))
    out = tmp_path / "deep" / "tokenizer.json"
    printed = good("tokenizer", "train", text, "--kind", "bpe", "--size", 60, "--out", out)
    assert "tokens per word, 0 unknown." in printed
    rows = [line.split("\t") for line in good("tokenizer", "show", out, "Der Hund!").splitlines()]
    assert rows[0] == ["token", "id", "offsets", "text"] and rows[1][0].startswith("▁")
    found = json.loads(good("tokenizer", "show", out, "Der Hund", "--json"))
    assert found["decoded"] == "Der Hund" and len(found["ids"]) == len(found["offsets"]) == len(found["tokens"])


def test_bleu_of_files_and_of_sentences(tmp_path):
    (tmp_path / "hyp").write_text("The guard arrived late because of the rain\n")
    (tmp_path / "ref").write_text("The guard arrived late because it was raining\n")
    text = good("bleu", tmp_path / "hyp", tmp_path / "ref", "--explain")
    assert "BLEU-1 0.625  BLEU-2 0.598  BLEU-3 0.563  BLEU-4 0.517" in text
    assert "2\t4\t4\t7\t0.5714" in text
    assert "brevity penalty 1.0000 (e^(1 - r/c)), c = 8, r = 8" in text
    assert "The guard arrived late\t1\t1\t1" in text
    words = ("bleu", "--inline", "He He He eats tasty fruit", "He eats a sweet apple", "He is eating a tasty apple")
    found = json.loads(good(*words, "--json", "--explain"))
    assert found["precisions"][0]["clipped"] == 3 and found["bleu_4"] == 0
    he = next(match for match in found["matches"]["1"] if match["ngram"] == ["He"])
    assert (he["count"], he["in_references"], he["clipped"]) == (3, [1, 1], 1)


def test_a_closed_pipe_is_no_crash(quick_run):
    command = f"{sys.executable} -m regard data miniature --count 20000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr


def test_any_text_can_be_printed_anywhere(tmp_path):
    words = [sys.executable, "-m", "regard", "data", "miniature", "--count", "40"]
    plain = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"}
    done = subprocess.run(words, capture_output=True, env=plain)
    assert done.returncode == 0 and "ä" in done.stdout.decode()


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
    assert bad(*words) == (f"{tmp_path / 't.json'}: the file exists; choose another with --out, or give --overwrite.")
    good(*words, "--overwrite")

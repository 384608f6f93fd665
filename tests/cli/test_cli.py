import os
import subprocess
import sys

import pytest

from commands import good
from regard import __version__
from regard.cli.listing import PANELS
from regard.cli.verb import ListedVerbs

VERBS = [
    *(
        "quickstart",
        "plan",
        "doctor",
        "train",
        "transfer",
        "inspect",
        "race",
        "tune",
        "predict",
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
        "serve",
        "studio",
    ),
    *("card", "export", "convert", "import", "tokenizer", "recipes", "presets", "tasks", "config", "data"),
]


def test_the_verbs_are_these():
    names = [name for verbs in PANELS.values() for name in verbs]
    assert sorted(names) == sorted(VERBS)
    text = good("--help")
    assert all(verb in text for verb in VERBS)


@pytest.mark.parametrize(
    ("name", "summary"), [(name, each[1]) for verbs in PANELS.values() for name, each in verbs.items()]
)
def test_a_summary_is_that_of_the_verb_itself(name, summary):
    assert ListedVerbs()[name].help.split("\n\n")[0].replace("\n", " ") == summary


@pytest.mark.parametrize(
    "words",
    [
        *([verb] for verb in VERBS),
        ["tokenizer", "train"],
        ["config", "show"],
        ["config", "explain"],
        ["data", "miniature"],
        ["runs", "list"],
        ["runs", "delete"],
        *(["vectors", verb] for verb in ("neighbors", "similarity", "analogy", "odd-one-out", "map")),
    ],
)
def test_every_verb_explains_itself(words):
    assert "Usage" in good(*words, "--help")


def test_version():
    assert good("--version") == f"regard {__version__}\n"


def test_a_closed_pipe_is_no_crash(quick_run):
    command = f"{sys.executable} -m regard data miniature --count 20000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr


def test_any_text_can_be_printed_anywhere(tmp_path):
    words = [sys.executable, "-m", "regard", "data", "miniature", "--count", "40"]
    plain = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"}
    done = subprocess.run(words, capture_output=True, env=plain)
    assert done.returncode == 0 and "ä" in done.stdout.decode()


@pytest.mark.parametrize("words, code", [(["--version"], 0), (["train", "no-such-recipe"], 2)])
def test_one_of_several_processes_ends_with_its_output_and_code(words, code):
    command = [sys.executable, "-m", "regard", *words]
    alone = subprocess.run(command, capture_output=True, text=True)
    one_of_two = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"WORLD_SIZE": "2"})
    assert (one_of_two.stdout, one_of_two.stderr) == (alone.stdout, alone.stderr)
    assert one_of_two.returncode == alone.returncode == code

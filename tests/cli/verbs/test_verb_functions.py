"""What train, quickstart and vectors do with their arguments, without training anything."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from commands import call
from regard.cli.options import Given
from regard.cli.verbs import quickstart, train, vectors
from regard.errors import ConfigError, DataError, RegardError
from regard.tasks.contract import find_task
from regard.training.settings import MachineSettings


@pytest.fixture
def calls(monkeypatch):
    """Calls of training and resuming, which do nothing."""
    made = []
    for name in ("regard.runs.train.train", "regard.runs.resume.resume"):
        monkeypatch.setattr(name, lambda *args, **options: made.append((args, options)))
    monkeypatch.setattr("regard.cli.metrics.print_run", lambda *_: None)
    monkeypatch.setattr("regard.runs.resume.resumed_machine", lambda *_: MachineSettings())
    return made


def test_flags_and_settings_reach_a_new_run(calls):
    train.train("translate", ["seed=3"], source="a", target="b", deterministic=True, overwrite=True, quiet=True)
    (((recipe, overrides), options),) = calls
    assert recipe == "translate" and options["overwrite"] is True and "out" not in options
    assert overrides == {
        "machine.deterministic": True,
        "data.train.source": "a",
        "data.train.target": "b",
        "seed": 3,
    }


def test_the_first_word_of_a_resumed_run_may_be_a_setting(calls, monkeypatch):
    monkeypatch.setattr("regard.runs.resume.resumed_machine", lambda path, overrides: MachineSettings())
    train.train("train.steps=5", ["seed=3"], resume=Path("r"), force=True, quiet=True)
    ((args, options),) = calls
    assert args == (Path("r"), {"train.steps": 5, "seed": 3}) and options["force"] is True


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({}, "There is no recipe; give a recipe name, a TOML file or a task (see regard recipes)."),
        ({"force": True}, "--force is for --resume; use --overwrite to replace an existing run."),
        ({"recipe": "a", "resume": Path("r")}, '--resume r uses the recipe of that run; leave out "a".'),
        ({"resume": Path("r"), "dry_run": True}, "--dry-run has no meaning with --resume r; leave it out."),
        ({"resume": Path("r"), "out": Path("x")}, "--out has no meaning with --resume r; leave it out."),
    ],
)
def test_arguments_that_contradict_each_other_start_nothing(calls, flags, sentence):
    with pytest.raises(ConfigError) as error:
        train.train(**flags)
    assert str(error.value) == sentence and calls == []


@pytest.mark.parametrize("scores", [{}, {"test": {}}])
def test_quickstart_trains_an_existing_run_only_if_asked_to(scores, calls, monkeypatch, capsys):
    record = SimpleNamespace(task="translate", scores=scores, parameters=1234, steps=50)
    monkeypatch.setattr("regard.runs.run.Run", lambda path: SimpleNamespace(exists=True, record=record))
    monkeypatch.setattr(type(find_task("translate")), "score_parts", lambda *_: [])
    translated = lambda texts: [SimpleNamespace(source=text, text="x") for text in texts]
    monkeypatch.setattr("regard.tasks.load.load", lambda *_: translated)
    quickstart.quickstart(out=Path("q"), quiet=True)
    out = capsys.readouterr().out
    assert calls == []
    if scores:
        assert out.startswith("q: already trained, 1,234 parameters, 50 steps.\n") and out.count("→ x") == 3
    else:
        assert out.startswith("q: this run is unfinished. Resume it: regard train --resume q\n") and "→" not in out
    quickstart.quickstart(out=Path("q"), fresh=True, device="cpu", quiet=True)
    (((recipe, overrides), options),) = calls
    assert (recipe, overrides, options["overwrite"]) == ("translate-miniature", {"machine.device": "cpu"}, True)


def test_queries_are_arguments_or_lines_and_have_their_number_of_words(tmp_path):
    assert list(vectors.queries(["a", "b"], None, 1, "neighbors")) == [("", ["a"]), ("", ["b"])]
    assert list(vectors.queries(["a", "b"], None, 2, "similarity")) == [("", ["a", "b"])]
    path = tmp_path / "q.txt"
    path.write_text("a b\n\nnew york\tc\n")
    assert list(vectors.queries(None, path, 2, "similarity")) == [
        (f"{path}: line 1: ", ["a", "b"]),
        (f"{path}: line 3: ", ["new york", "c"]),
    ]
    with pytest.raises(DataError, match="line 1: analogy takes 3 words, not 2: a b."):
        list(vectors.queries(None, path, 3, "analogy"))
    with pytest.raises(ConfigError, match="Give either words or --file, not both."):
        list(vectors.queries(["a"], path, 1, "neighbors"))


def test_lines_with_unknown_words_are_skipped_and_counted(tmp_path, capsys):
    (tmp_path / "v.txt").write_text("3 2\na 1 0\nb 0 1\nc 1 1\n")
    (tmp_path / "q.txt").write_text("a zebra\na b\n")
    words = ("vectors", "similarity", tmp_path / "v.txt", "--file", tmp_path / "q.txt")
    result = call(*words)
    assert result.stdout == "a zebra\tunknown: zebra\na b\t0.0000\n"
    assert result.stderr == f"warning: 1 line has a word without a vector in {tmp_path / 'v.txt'}.\n"
    lines = [json.loads(line) for line in call(*words, "--json").stdout.splitlines()]
    assert lines == [
        {"words": ["a", "zebra"], "unknown": ["zebra"]},
        {"words": ["a", "b"], "metric": "cosine", "value": 0.0},
    ]


def test_scores_of_vectors_have_a_row_per_set_and_per_section(capsys):
    section = {"name": "family", "questions": 4, "covered": 2, "accuracy": 0.5}
    empty = {"name": "semantic", "questions": 0, "covered": 0, "accuracy": None}
    same = {"scores": [], "intervals": {}, "decode": {}, "test_set": {"sources": "", "references": []}}
    score = {"name": "accuracy", "value": 0.5, "signature": "cosine", "key": "accuracy"}
    analogies = same | {
        "scores": [score],
        "questions": 4,
        "covered": 2,
        "accuracy": 0.5,
        "sections": [section, empty],
    }
    rated = same | {"scores": [score], "pairs": 3, "covered": 2, "spearman": 1.0, "pearson": None}
    Given().show(None, *find_task("vectors").score_parts({"q.txt": analogies, "p.txt": rated}))
    assert capsys.readouterr().out == (
        "set\tcovered\taccuracy\tSpearman\tquestions\tpairs\nq.txt\t2\t0.5000\t-\t4\t-\np.txt\t2\t-\t1.000\t-\t3\n\n"
        "q.txt by section:\nsection\tquestions\tcovered\taccuracy\nfamily\t4\t2\t50.0 %\n"
    )


def test_a_map_of_a_missing_file_is_refused():
    with pytest.raises(RegardError, match="missing: "):
        vectors.map_("missing")

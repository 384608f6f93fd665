"""`regard race` as a user meets it."""

import json
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from commands import bad, call, good
from racing import SETTINGS, Stopper
from regard import miniature
from regard.cli.options import Given
from regard.cli.verbs.studies import print_race
from regard.config.overrides import nested
from regard.config.settings import flatten
from regard.reporting.live import LiveTable
from regard.studies.race import leaderboard
from regard.studies.race import race as course
from regard.studies.race.figures import timing
from regard.studies.race.leaderboard import Standing, StateLines, standing_table

MODELS = "transformer-tiny,transformer-small"


@pytest.fixture
def words(tmp_path, monkeypatch):
    """The words that ask for a race of seconds."""
    monkeypatch.setattr(timing, "LENGTHS", (4, 8))
    (tmp_path / "pairs.tsv").write_text(
        "".join(f"{pair.source}\t{pair.target}\n" for pair in miniature.pairs("train", 200))
    )
    settings = [f"{name}={json.dumps(value)}" for name, value in flatten(nested(SETTINGS))]
    return ["race", "translate", *settings, "--data", tmp_path / "pairs.tsv", "--out", tmp_path / "it"]


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the report out, which takes longer than a race of a few steps."""
    monkeypatch.setattr(course, "write_report", lambda results, folder: None)


def test_a_race_prints_a_table_and_where_the_report_is(words, tmp_path, undrawn):
    lines = good(*words, "--models", MODELS, "--budget", "3 steps", "--quiet").splitlines()
    assert lines[0].split("\t") == ["model", "BLEU", "loss", "parameters", "steps", "tokens/s", "training"]
    assert {line.split("\t")[0] for line in lines[1:3]} == set(MODELS.split(","))
    assert lines[3] == f"report: {tmp_path / 'it' / 'report.html'}"
    found = json.loads(good(*words, "--models", MODELS, "--budget", "3 steps", "--json", "--quiet"))
    assert found["is_finished"] and found["budget"] == "3 steps" and len(found["members"]) == 2
    assert "there is a race here already" in str(call(*words, "--models", MODELS, "--budget", "4 steps").exception)
    assert good("translate", tmp_path / "it" / "runs" / "transformer-tiny", "ein Hund", "--quiet").count("\n") == 1


def test_a_setting_is_raced(words, undrawn):
    found = json.loads(
        good(*words, "--vary", "model.norm_order=pre,post", "--budget", "2 steps", "--json", "--quiet")
    )
    assert [each["name"] for each in found["members"]] == ["transformer-small-pre", "transformer-small-post"]


def test_ctrl_c_saves_and_the_same_command_goes_on(words, tmp_path, monkeypatch, undrawn):
    words = [*words, "--models", MODELS, "--budget", "6 steps"]
    stopper = Stopper("transformer-tiny", 2)
    with monkeypatch.context() as patched:
        patched.setattr(leaderboard, "StateLines", lambda: lambda standings: stopper(standings) or [])
        stopped = call(*words)
    assert stopped.exit_code == 130 and stopped.stdout == ""
    assert stopped.stderr.endswith("Stopped; everything is saved. The same command resumes it.\n")
    state = json.loads((tmp_path / "it" / "runs" / "transformer-tiny" / "run.json").read_text())["state"]
    assert state == "interrupted"
    assert json.loads(good(*words, "--json", "--quiet"))["is_finished"]


def test_mistakes_are_one_sentence():
    assert bad("race", "race-miniature", "--models", "transformer-tony,transformer-tiny") == (
        'model.preset: there is no preset "transformer-tony"; did you mean transformer-tiny?'
    )
    assert str(call("race", "race-miniature", "--models", MODELS, "--budget", "soon").exception) == (
        '--budget: "soon" is neither a duration nor a count; write it like 10m, 1h30m, 2000 steps, 5 epochs or 3M '
        "tokens."
    )
    unknown = call("race", "race-miniature", "--vary", "model.alinment").exception
    assert str(unknown).startswith("--vary model.alinment: unknown setting; ")


def test_the_table_shows_the_standing_of_every_member():
    console = Console(file=StringIO(), width=100)
    table = LiveTable(console, right=2)
    console.print(table.render())
    table.show(
        *standing_table(
            [Standing("gru", "training", 5, 20, 100, 2.5, None, 1234.5, 61.0), Standing("lstm", steps=30)]
        )
    )
    with table.bar("gru: train", 20, 4) as bar:
        bar.advance(1, loss=2.5, tokens_per_second=1234.5)
        console.print(table.render())
    lines = console.file.getvalue().splitlines()
    assert lines[1].split() == ["model", "state", "step", "loss", "BLEU", "tokens/s", "training"]
    assert lines[2].split() == ["gru", "training", "5/20", "2.500", "1,234", "1:01"]
    assert lines[3].split() == ["lstm", "waiting", "0/30"]
    assert lines[4].startswith("gru: train 5/20  loss 2.500  1,234 tokens/s")
    with table.bar("gru: read") as bar:
        bar.advance(1000)
        assert table.doing.startswith("gru: read 1,000/?  ")


def test_without_a_terminal_changes_of_state_are_lines():
    changes, here, messages = StateLines(), Standing("gru"), []
    for state in ("waiting", "training", "training", "finished"):
        here.state, here.score = state, 12.345
        messages += changes([here])
    assert messages == ["gru: training", "gru: finished, BLEU 12.35"]


def test_a_race_without_results_prints_nothing(tmp_path, capsys):
    race = SimpleNamespace(is_finished=False, report=tmp_path / "report.html", path=tmp_path)
    print_race(race, Given(json=None))
    assert capsys.readouterr().out == ""

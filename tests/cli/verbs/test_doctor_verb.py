import json

import pytest
from typer.testing import CliRunner

from regard import miniature
from regard.cli.console import print_styled
from regard.cli.main import app
from regard.cli.verbs.doctor import doctor
from regard.tasks.findings import Finding, Report

TINY = ["model.preset=transformer-tiny", "model.width=16", "text.size=600", "train.steps=40", "train.warmup=4"]
TINY += ["train.tokens_per_update=400", "train.validate_every=10"]


@pytest.fixture
def files(tmp_path):
    pairs = miniature.pairs("train", 1200)
    for side, suffix in ((0, "de"), (1, "en")):
        lines = [pair[side] for pair in pairs]
        (tmp_path / f"a.{suffix}").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"b.{suffix}").write_text("".join(f"{line}\n" for line in lines[side:] + lines[:side]))
    return tmp_path


def call(*words):
    return CliRunner().invoke(app, ["doctor", *map(str, words)])


def test_findings_are_printed_with_their_remedies(files, monkeypatch):
    from regard.studies.doctor import speed

    monkeypatch.setattr(speed, "SECONDS", 0.2)
    result = call("translate", "--source", files / "a.de", "--target", files / "a.en", "--seed", 3, *TINY)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    titles = [line for line in lines if not line.startswith(" ")]
    assert titles[:-1] == ["text", "splits", "alignment", "sizes", "machine"] and titles[-1].startswith("1 warning")
    place = next(number for number, line in enumerate(lines) if line.startswith("  warning "))
    assert "pairs are used for validation" in lines[place]
    assert lines[place + 1].startswith("          → hold out more: data.valid_fraction=")


def test_a_problem_is_exit_code_1_and_json_for_machines(files):
    result = call("translate", "--source", files / "b.de", "--target", files / "b.en", "--quick", "--json", *TINY)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["severity"] == "problem"
    (finding,) = (each for each in found["findings"] if each["severity"] == "problem")
    assert (finding["check"], finding["name"], finding["metrics"]["lag"]) == ("alignment", "shifted", -1)
    assert set(finding) == {
        "check",
        "name",
        "severity",
        "sentence",
        "examples",
        "remedy",
        "settings",
        "metrics",
    }


def test_the_rate_is_swept_on_request(files, monkeypatch):
    from regard.studies.doctor import lr_finder as rate

    monkeypatch.setattr(rate, "sweep", lambda *_: rate.Sweep([1e-4, 1e-3, 1e-2, 1e-1], [5.0, 4.0, 3.0, 6.0]))
    result = call(
        "translate", "--source", files / "a.de", "--target", files / "a.en", "--quick", "--lr-finder", *TINY
    )
    assert result.exit_code == 0 and "suggests a peak of 1e-03" in result.stdout
    assert "1.0e-03   4.000  █████████████ ◄" in result.stdout


def test_a_mistake_is_exit_code_2(files):
    result = call("translate", "--source", files / "a.de", "--target", files / "none.en")
    assert result.exit_code != 0 and "there is no such file" in str(result.exception)


def test_tables_are_looked_over_as_train_reads_them(files, tmp_path):
    sources, targets = ((tmp_path / f"a.{suffix}").read_text().splitlines() for suffix in ("de", "en"))
    rows = [{"from": source, "to": target} for source, target in zip(sources, targets)]
    for name, part in (("train", rows[300:]), ("valid", rows[:300])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    words = ["--data", tmp_path / "train.jsonl", "--valid-data", tmp_path / "valid.jsonl"]
    columns = ["--source-column", "from", "--target-column", "to"]
    found = json.loads(call("translate", *words, *columns, "--quick", "--json", *TINY).stdout)
    watched = next(finding for finding in found["findings"] if finding["name"] == "validation")
    assert watched["sentence"] == "300 pairs are used for validation."


def test_a_report_has_a_title_for_each_kind_of_check_and_a_summary(capsys):
    findings = (
        Finding("text", "text.a", "ok", "All lines are text."),
        Finding("text", "text.b", "note", "One line is long.", ("line 3: x\x1b[31my",)),
        Finding("splits", "splits.a", "warning", "Few pairs.", (), "hold out more", {"data.valid_fraction": 0.1}),
        Finding("splits", "splits.b", "warning", "Leaked pairs."),
    )
    for line in Report(findings).styled_lines():
        print_styled(*line)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["text", "splits", "2 warnings, 1 note."]
    assert lines[1] == "  ok      All lines are text." and "\x1b[31m" not in lines[3]
    assert "          → hold out more: data.valid_fraction=0.1" in lines
    assert list(Report(findings[:1]).styled_lines())[-1] == (("No problems.", "green"),)


def test_the_examples_of_its_help_are_commands_of_its_own():
    examples = " ".join(doctor.__doc__.split()).split("Examples: ")[1].split(" · ")
    assert len(examples) == 3 and all(each.startswith("regard doctor ") for each in examples)

"""`regard transfer` as a user meets it."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from commands import bad, call, good
from labeled import write_reviews
from regard.cli.options import Given
from regard.cli.verbs.studies import print_transfer
from regard.reporting.live import LiveTable
from regard.studies.transfer import transfer as course
from regard.studies.transfer.folder import Transfer
from regard.studies.transfer.report import accuracy_table


@pytest.fixture
def words(tmp_path):
    """The words that ask for a transfer of seconds."""
    write_reviews(tmp_path / "reviews.csv", 80)
    quick = ["train.steps=2", "train.warmup=1", "--sizes", "20", "--seeds", "1", "--methods", "scratch"]
    return ["transfer", "--data", tmp_path / "reviews.csv", "--out", tmp_path / "it", *quick]


def test_it_prints_a_table_and_where_the_report_is(words, tmp_path):
    said = good(*words, "-q")
    assert said.startswith("method\t20\tseconds\ttrainable parameters\nscratch\t")
    assert f"report: {tmp_path / 'it' / 'report.html'}" in said and (tmp_path / "it" / "report.html").is_file()
    found = json.loads(good(*words, "-q", "--json"))
    assert found["is_finished"] and found["table"][0]["method"] == "scratch"


def test_one_that_was_stopped_leaves_with_130_and_goes_on(words, monkeypatch):
    token_mask = course.execute

    def stopped(run, job, progress):
        token_mask(run, replace(job, stop_at=1), progress)
        raise KeyboardInterrupt("Stopped.")

    monkeypatch.setattr(course, "execute", stopped)
    result = call(*words, "-q")
    assert result.exit_code == 130 and "The same command resumes it." in result.stderr
    monkeypatch.setattr(course, "execute", token_mask)
    assert "scratch" in good(*words, "-q")


@pytest.mark.parametrize(
    "more, sentence",
    [
        (["--methods", "bert"], 'there is no method "bert"; did you mean bert-tuned?'),
        (
            ["--methods", "elmo"],
            "--methods elmo: it starts from a pretrained model; give --elmo RUN",
        ),
        (["--methods", "elmo", "--elmo", "nowhere"], "nowhere: there is no run or checkpoint here; check the path."),
        (["--methods", "vectors-tuned", "--vectors", "no.txt"], "--vectors no.txt: there is no such file or run"),
        (["--sizes", "9999"], "--sizes: 9,999 examples are more than the"),
    ],
)
def test_mistakes_are_one_sentence(words, more, sentence):
    assert sentence in bad(*words, *more, "-q")


def test_a_mistake_is_not_remembered(words, tmp_path):
    """The command that is put right must not be told of a transfer that never began."""
    assert 'there is no column "wrong"' in bad(*words, "--label-column", "wrong", "-q")
    assert "examples are more than" in bad(*words, "--sizes", "20,9999", "-q")
    assert "scratch" in good(*words, "-q")
    assert "there is a transfer here already" in bad(*words, "--label-column", "wrong", "-q")
    assert "scratch" in good(*words, "-q")  # what was reached is kept


def test_starts_of_the_wrong_kind_are_told_before_anything_begins(words, tmp_path):
    vectors = tmp_path / "v.txt"
    vectors.write_text("the 1 2\nof 1\n")
    said = bad(*words, "--methods", "vectors-frozen", "--vectors", vectors, "-q")
    assert said == f"{vectors}: line 2 has 1 numbers, but 2 are expected; fix or remove it."
    said = bad(*words, "--methods", "bert-tuned", "--bert", vectors, "-q")
    assert (
        said == f"--bert {vectors}: these are word vectors; give them with --vectors, and a run of another kind here."
    )
    assert not (tmp_path / "it").exists()


def test_a_missing_file_and_columns_without_data_are_told(tmp_path):
    assert "no.csv" in bad("transfer", "--data", tmp_path / "no.csv", "--methods", "scratch", "--out", tmp_path / "t")
    assert "are for --data; leave them out." in bad("transfer", "--label-column", "x")


def test_the_live_table_shows_methods_and_sizes(words, tmp_path, capsys):
    good(*words, "-q")
    results = json.loads((tmp_path / "it" / "results.json").read_text(encoding="utf-8"))
    console = Console(file=StringIO(), width=100)
    table = LiveTable(console)
    table.show(*accuracy_table(results))
    console.print(table.render())
    shown = console.file.getvalue()
    assert "scratch" in shown and "20" in shown and "1 of 1 runs" in shown
    print_transfer(Transfer(tmp_path / "it"), Given())
    assert capsys.readouterr().out.startswith("method\t20\t")

"""The verbs that compare and look back: evaluate --against, runs, card."""

import json
import shutil

import pytest

from commands import bad, call, good
from regard.runs.run import Run
from regard.runs.store.process import this_process


@pytest.fixture
def shelf(quick_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        shutil.copytree(quick_run.path, tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "t.de").write_text("Der Hund schläft.\nAnna liest ein Buch.\n")
    (tmp_path / "t.en").write_text("The dog sleeps.\nAnna reads a book.\n")
    (tmp_path / "o.en").write_text("The dog is asleep.\nAnna is reading a book.\n")


def test_evaluate_says_what_it_wrote_and_how_papers_would_count(shelf, files):
    said = good("evaluate", "runs/one", "--source", "t.de", "--target", "t.en", "--papers", "-q")
    assert "score passports: runs/one/scores/t.de-t.en.json\n" in said
    assert "for papers that compute it so, BLEU lowercased, tokenized: t.de and t.en 0.00 (nrefs:1|" in said
    assert "on 13a-tokenized lowercased text)\n" in said
    assert (shelf / "one" / "scores" / "t.de-t.en.outputs.txt").read_text().count("\n") == 2


def test_evaluate_takes_several_references_from_files_and_columns(shelf, files, tmp_path):
    words = ("evaluate", "runs/one", "-q", "--json", "--out", "p.json")
    (scored,) = json.loads(good(*words, "--source", "t.de", "--target", "t.en", "--target", "o.en")).values()
    assert scored["scores"][0]["signature"].startswith("nrefs:2") and scored["files"][0] == "p.json"
    (tmp_path / "t.tsv").write_text("Der Hund schläft.\tThe dog sleeps.\tThe dog is asleep.\n")
    columns = ("--target-column", 1, "--target-column", 2)
    (scored,) = json.loads(good(*words, "--data", "t.tsv", *columns)).values()
    assert scored["scores"][0]["signature"].startswith("nrefs:2") and scored["sentences"] == 1


def test_evaluate_against_says_it_in_a_table_in_words_and_in_json(shelf):
    said = good("evaluate", "runs/one", "--test-set", "test", "--against", "runs/two", "-q")
    assert "test: runs/one against runs/two\nmetric\tfirst [95 %]\tsecond [95 %]\tdifference [95 %]\tp\n" in said
    assert "BLEU: no significant difference between runs/one and runs/two (difference +0.00," in said
    assert "Paired bootstrap, two-sided, 1,000 resamples, seed 12345.\n" in said
    evaluated = json.loads(good("evaluate", "runs/one", "--against", "runs/two/scores/test.json", "-q", "--json"))
    against = evaluated["test"]["against"]
    assert [row["p"] for row in against["differences"]] == [1, 1, 1] and len(against["words"]) == 3
    assert against["differences"][0]["interval"] == [0, 0]


def test_a_set_of_the_run_and_other_data_are_not_mixed_up(shelf, files):
    assert bad("evaluate", "runs/one", "--test-set", "test", "--source", "t.de", "--target", "t.en") == (
        "--test-set test picks one of the run's own test sets; leave it out, or the other data."
    )


def test_runs_are_listed_as_a_table_and_as_json(shelf):
    header, *rows = [line.split("\t") for line in good("runs").splitlines()]
    assert header == ["run", "task", "preset", "score", "parameters", "size", "age", "state"]
    assert sorted(row[0] for row in rows) == ["runs/one", "runs/two"]
    assert rows[0][1:3] == ["translate", "transformer-tiny"] and rows[0][3].endswith(" on test")
    assert rows[0][5].endswith(" MB") and rows[0][7] == "finished"
    for name in ("one", "two"):
        Run(shelf / name).note(started="2020-01-01T00:00:00+00:00")  # an age in days, which does not change meanwhile
    assert good("runs", shelf / "one") == good("runs", "list", shelf / "one")
    listed = json.loads(good("runs", "--json"))
    assert {"path", "state", "task", "preset", "score", "parameters", "bytes", "age_seconds"} <= set(listed[0])
    (shelf / "empty").mkdir()
    assert good("runs", "runs/empty") == "runs/empty: there are no runs here yet.\n"
    assert json.loads(good("runs", "runs/empty", "--json")) == []


def test_runs_are_deleted_after_a_question(shelf):
    refused = call("runs", "delete", "runs/one", stdin="n\n")
    assert refused.exit_code == 1 and "Nothing was deleted." in refused.output and (shelf / "one").exists()
    assert "Delete runs/one (translate, finished, BLEU " in refused.output
    printed = good("runs", "delete", "runs/one", stdin="y\n")
    assert "runs/one: deleted, " in printed and not (shelf / "one").exists()
    assert json.loads(good("runs", "delete", "runs/two", "--yes", "--json"))["deleted"] == "runs/two"
    assert list(shelf.iterdir()) == []


def test_deleting_asks_nobody_s_permission_only_with_yes(shelf):
    done = call("runs", "delete", "runs/one", stdin="")
    assert str(done.exception) == ("runs/one: not confirmed, so nothing was deleted; --yes deletes without asking.")
    Run(shelf / "one").note(state="running", process=this_process())
    assert bad("runs", "delete", "runs/one", "--yes").startswith("runs/one: it is being trained right now (process ")
    assert (shelf / "one").exists()


def test_a_card_is_written_anew(shelf):
    (shelf / "one" / "README.md").unlink()
    (shelf / "one" / "curves.png").unlink()
    assert good("card", "runs/one") == "written: runs/one/README.md, runs/one/curves.png\n"
    assert (shelf / "one" / "README.md").exists() and (shelf / "one" / "curves.png").exists()
    assert json.loads(good("card", "runs/one", "--json")) == {
        "card": "runs/one/README.md",
        "curves": "runs/one/curves.png",
    }
    assert bad("card", "runs") == "runs: there is no run here (run.json is missing); check the path."


@pytest.mark.parametrize(
    "count, text", [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (12_345_678, "12 MB"), (5e12, "5.0 TB")]
)
def test_sizes_are_written_as_people_do(count, text):
    from regard.progress import size_words as size

    assert size(count) == text


@pytest.mark.parametrize("seconds, text", [(-3, "0 s"), (59, "59 s"), (61, "1 min"), (7300, "2 h"), (1e6, "11 d")])
def test_ages_are_written_in_their_largest_unit(seconds, text):
    from regard.progress import age_words as age

    assert age(seconds) == text


def test_a_folder_that_is_no_command_is_listed(tmp_path, capsys):
    from regard.cli.tools.runs import list_

    list_(tmp_path)
    assert capsys.readouterr().out == good("runs", tmp_path) == f"{tmp_path}: there are no runs here yet.\n"

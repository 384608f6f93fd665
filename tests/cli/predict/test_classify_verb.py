"""The verbs that label and choose, and training them."""

import csv
import io
import json

import pytest

from commands import bad, call, good
from labeled import QUICK, reviews, write_reviews
from regard.runs.train import train

WORDS = [f"{name}={value}" for name, value in QUICK.items()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A classifier of texts, one of pairs, and a model that chooses, each hardly trained."""
    folder = tmp_path_factory.mktemp("runs")
    short = QUICK | {"train.steps": 6, "train.tokens_per_update": 2000}
    write_reviews(folder / "a.csv", 120)
    texts = reviews(120)
    pairs = [("premise", "hypothesis", "label"), *((one, "a film", label) for one, label in texts)]
    with (folder / "pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows(pairs)
    rows = [{"context": text, "choices": ["good", "bad"], "label": int(label == "unkind")} for text, label in texts]
    (folder / "choices.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for task, name in (("classify", "a.csv"), ("classify", "pairs.csv"), ("choose", "choices.jsonl")):
        train(task, short | {"data.train.path": str(folder / name)}, out=folder / name.partition(".")[0])
    return folder


def test_train_a_classifier_from_a_table(tmp_path):
    path = write_reviews(tmp_path / "a.csv", 100)
    words = ["train", "classify", "--data", path, "--out", tmp_path / "run", *WORDS, "train.steps=6"]
    text = good(*words, "--quiet", "--text-column", "text", "--label-column", "label")
    assert f"Use it: regard classify {tmp_path / 'run'} TEXT" in text
    assert (
        "set\texamples\tloss\taccuracy\tmacro F1\tMatthews\tmajority baseline" in text and "valid by label:" in text
    )
    plan = json.loads(good("train", "classify", "--data", path, *WORDS, "--dry-run", "--quiet", "--json"))
    assert plan["labels"] == 2 and plan["train_examples"] + plan["valid_examples"] == 100


def test_texts_are_labelled_one_a_line_and_blank_lines_stay(runs, tmp_path):
    one, other = (text for text, _ in reviews(2))
    lines = good("classify", runs / "a", one, other).splitlines()
    assert len(lines) == 2 and all(line.split("\t")[0] in ("kind", "unkind") for line in lines)
    assert good("classify", runs / "a", stdin=f"{one}\n\n{other}\n") == f"{lines[0]}\n\n{lines[1]}\n"
    (tmp_path / "lines.txt").write_text(f"{one}\n  \n{other}\n")
    assert good("classify", runs / "a", "--file", tmp_path / "lines.txt").splitlines() == [lines[0], "", lines[1]]
    result = call("classify", runs / "a", "so much to say " * 200, one)
    assert result.stderr.startswith("warning: 1 of the texts are longer than the model's maximum length")
    assert result.exit_code == 0
    record = json.loads(good("classify", runs / "a", one, "--json"))
    assert set(record) == {"text", "label", "probabilities", "probability", "is_truncated"}
    assert record["text"] == one


def test_a_table_comes_back_with_labels_in_its_order(runs, tmp_path):
    texts = [text for text, _ in reviews(25, seed=5)]
    rows = [{"id": str(n), "Review": text, "note": 'a "note", here'} for n, text in enumerate(texts)]
    rows.insert(3, {"id": "x", "Review": "", "note": ""})
    with (tmp_path / "in.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "Review", "note"])
        writer.writeheader()
        writer.writerows(rows)
    text = good("classify", runs / "a", "--file", tmp_path / "in.csv", "--quiet")
    labeled = list(csv.DictReader(io.StringIO(text)))
    assert [{name: row[name] for name in ("id", "Review", "note")} for row in labeled] == rows
    assert list(labeled[0])[3:] == ["label", "probability_kind", "probability_unkind"]
    assert labeled[3]["label"] == labeled[3]["probability_kind"] == ""
    alone = good("classify", runs / "a", *texts).splitlines()
    labels = [row["label"] for row in labeled if row["Review"]]
    assert labels == [line.split("\t")[0] for line in alone]
    assert good("classify", runs / "a", "--file", tmp_path / "in.csv", "--out", tmp_path / "out.csv", "-q") == (
        f"{tmp_path / 'out.csv'}: 26 rows.\n"
    )
    assert (tmp_path / "out.csv").read_text() == text


def test_labels_that_a_table_has_already_are_kept(runs):
    first = next(csv.DictReader(io.StringIO(good("classify", runs / "a", "--file", runs / "a.csv", "-q"))))
    assert first["label"] == reviews(1)[0][1] and first["predicted_label"] in ("kind", "unkind")
    records = good("classify", runs / "a", "--file", runs / "a.csv", "-q", "--json").splitlines()
    assert len(records) == 120 and set(json.loads(records[0])["probabilities"]) == {"kind", "unkind"}


def test_a_table_without_names_holds_texts_alone(runs, tmp_path):
    (tmp_path / "in.tsv").write_text("a good film\na bad film\n")
    lines = good("classify", runs / "a", "--file", tmp_path / "in.tsv", "-q").splitlines()
    assert lines[0] == "text,label,probability_kind,probability_unkind" and lines[1].startswith("a good film,")


def test_pairs_are_two_words_a_tab_or_two_columns(runs, tmp_path):
    given = good("classify", runs / "pairs", "a good film", "a film")
    assert good("classify", runs / "pairs", stdin="a good film\ta film\n\n") == given + "\n"
    (tmp_path / "in.csv").write_text("one,two\na good film,a film\n")
    columns = ["--text-column", "one", "--text-column", "two"]
    row = good("classify", runs / "pairs", "--file", tmp_path / "in.csv", *columns, "-q").splitlines()[1]
    assert row.split(",")[2] == given.split("\t")[0]


def test_choices_are_made_from_words_and_from_a_file(runs):
    number, probability, text = (
        good("choose", runs / "choices", "the film was good", "good", "bad").strip().split("\t")
    )
    assert text == ("good", "bad")[int(number)] and float(probability) >= 0.5
    lines = good("choose", runs / "choices", "--file", runs / "choices.jsonl", "--json", "-q").splitlines()
    record = json.loads(lines[0])
    assert len(lines) == 120 and record["context"] == reviews(1)[0][0] and len(record["probabilities"]) == 2
    assert record["choice"] == record["choices"][record["number"]]


def test_choices_are_made_from_lines(runs):
    context = reviews(1)[0][0]
    alone = good("choose", runs / "choices", context, "good", "bad")
    line = f"{context}\tgood\tbad\n"
    assert good("choose", runs / "choices", stdin=f"{line}\n{line}") == f"{alone}\n{alone}"
    assert bad("choose", runs / "choices", stdin="a\tb\n") == ("line 1: it has 1 choices; give two or more.")


def test_a_table_of_choices_comes_back_with_probabilities(runs, tmp_path):
    (tmp_path / "a.csv").write_text("id,context,choice0,choice1,choice2\n1,a,good,bad,\n,,,,\n2,b,good,bad,fine\n")
    good("choose", runs / "choices", "--file", tmp_path / "a.csv", "--out", tmp_path / "out.csv", "-q")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert list(rows[0])[5:] == ["number", "choice", "probability_0", "probability_1", "probability_2"]
    assert rows[0]["choice"] == rows[0][f"choice{rows[0]['number']}"] and rows[0]["probability_2"] == ""
    assert sum(float(rows[2][f"probability_{number}"]) for number in range(3)) == pytest.approx(1, abs=1e-5)
    assert [row["number"] == "" for row in rows] == [False, True, False]


def test_runs_are_evaluated(runs):
    text = good("evaluate", runs / "a", "--data", runs / "a.csv", "-q")
    assert f"{runs / 'a.csv'}\t120\t" in text and "precision" in text
    assert set(json.loads(good("evaluate", runs / "choices", "--json", "-q"))) == {"valid"}


def test_columns_of_labels_are_for_models_that_label(quick_run):
    assert bad("evaluate", quick_run.path, "--label-column", "x") == (
        f"--label-column x: {quick_run.path} is a translator, whose data has no such column; leave it out."
    )


def test_mistakes_are_one_sentence(runs, tmp_path):
    (tmp_path / "in.csv").write_text("one,two\na,b\n")
    table = tmp_path / "in.csv"
    run = runs / "a"
    assert bad("classify", run, "x", "--file", table) == "Give either texts or --file, not both."
    assert bad("classify", run, "x", "--text-column", "a") == "--text-column is for tables; give one with --file."
    assert bad("classify", run, "--file", table, "--out", tmp_path / "out.xlsx") == (
        f'--out {tmp_path / "out.xlsx"}: no table is written as ".xlsx"; use .csv, .tsv or .jsonl.'
    )
    assert bad("classify", run, "--file", table) == (
        f'{table}: no column (0 with "one", 1 with "two") is known to hold the text; give --text-column.'
    )
    assert bad("classify", runs / "pairs", "--file", runs / "a.csv") == (
        f"{runs / 'a.csv'}: no column (text, label) is known to hold the two texts; give --text-column."
    )
    assert bad("classify", runs / "pairs", "a") == (
        "1 text was given, but a row of this model has text and second; give all of them."
    )
    assert bad("classify", runs / "pairs", stdin="a\n") == (
        "line 1: put text and second on a line, separated by tabs."
    )
    assert bad("choose", runs / "choices", "x", "--file", table) == "Give either texts or --file, not both."
    assert bad("choose", run, "a", "b", "c") == (
        f"{run}: this is a classifier, not a multiple-choice model; use it with regard classify or regard evaluate."
    )
    assert bad("translate", run, "a") == (
        f"{run}: this is a classifier, not a translator; use it with regard classify or regard evaluate."
    )
    assert bad("score", run, "a", "--inline") == (
        f"{run}: this is neither a translator nor a language model, so texts have no probability; "
        "use regard evaluate."
    )
    assert bad("evaluate", run, "--label-column", "x") == (
        f"--label-column x: this names a column of the table that {run}, a classifier, is scored on, and there is no "
        "--data; leave it out."
    )
    assert bad("evaluate", run, "--stride", 3) == (
        f"--stride 3: for language models, and {run} is a classifier; leave it out."
    )
    columns = ["--text-column", "a", "--text-column", "b", "--text-column", "c"]
    assert bad("train", "classify", "--data", table, *columns) == (
        "--text-column c: an example has one or two texts; leave this one out."
    )
    assert bad("train", "classify") == (
        "task classify: it names no training data; give --data FILE (data.train in a recipe)."
    )
    assert bad("train", "classify", "--data", table, "--init-from", tmp_path / "none") == (
        f"{tmp_path / 'none'}: there is no run or checkpoint here; check the path."
    )

"""The command line over fine-tuned encoders: regress, tag, answer, and their scores."""

import csv
import io
import json

import pytest

from commands import bad, good
from tuning import BERT, asked, write_questions, write_rated, write_tagged

WORDS = [f"{name}={value}" for name, value in BERT.items() if name != "model.preset"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    sources = {
        "regress": write_rated(folder / "pairs.csv", 160),
        "tag": write_tagged(folder / "words.conll", 120),
        "answer": write_questions(folder / "asked.json", 200, silent=0.3),
    }
    for task, source in sources.items():
        words = ["train", task, "--data", source, "--out", folder / task, "--preset", "bert-tiny", *WORDS]
        text = good(*words, "train.steps=60", "train.validate_every=60", "--quiet")
        use = {"regress": "TEXT TEXT", "tag": "TEXT", "answer": "QUESTION CONTEXT"}[task]
        assert f"Use it: regard {task} {folder / task} {use}\n" in text and "95 % intervals by bootstrap" in text
    return folder


def test_numbers_of_pairs(runs):
    text = good("regress", runs / "regress", "hat book", "key key", "hat", "cup")
    many, few = map(float, text.split())
    assert many > few
    lines = good("regress", runs / "regress", stdin="hat book\tkey key\n\nhat\tcup\n").split("\n")
    assert [float(lines[0]), float(lines[2])] == [many, few] and lines[1] == ""
    record = json.loads(good("regress", runs / "regress", "hat book", "key key", "--json"))
    assert record["number"] == pytest.approx(many, abs=1e-3)
    assert (record["text"], record["second"]) == ("hat book", "key key")


def test_a_table_comes_back_with_numbers(runs, tmp_path):
    out = tmp_path / "out.csv"
    good("regress", runs / "regress", "--file", runs / "pairs.csv", "--out", out)
    rows, before = (list(csv.DictReader(io.StringIO(path.read_text()))) for path in (out, runs / "pairs.csv"))
    assert len(rows) == 160 and list(rows[0]) == ["sentence1", "sentence2", "score", "number"]
    assert [row["sentence1"] for row in rows] == [row["sentence1"] for row in before]


def test_tags_a_word_a_line(runs, tmp_path):
    text = good("tag", runs / "tag", "anna likes rome .", "ben sees oslo !")
    sentences = [[line.split("\t") for line in each.split("\n")] for each in text.strip().split("\n\n")]
    assert [[word for word, _ in each] for each in sentences] == [
        ["anna", "likes", "rome", "."],
        ["ben", "sees", "oslo", "!"],
    ]
    (tmp_path / "a.conll").write_text("anna\nlikes\nrome\n.\n\nben\nsees\noslo\n!\n")
    assert good("tag", runs / "tag", "--file", tmp_path / "a.conll", "--quiet") == text
    (tmp_path / "a.txt").write_text("anna likes rome .\n\nben sees oslo !\n")
    assert good("tag", runs / "tag", "--file", tmp_path / "a.txt") == text.replace("\n\n", "\n\n\n", 1)
    record = json.loads(good("tag", runs / "tag", "anna likes rome .", "--json"))
    assert record["words"] == ["anna", "likes", "rome", "."] and len(record["probabilities"]) == 4
    assert all(span["text"] in record["text"] for span in record["spans"])


def test_a_table_comes_back_with_tags(runs, tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,anna likes rome .\n2,\n")
    rows = list(csv.DictReader(io.StringIO(good("tag", runs / "tag", "--file", tmp_path / "a.csv", "--quiet"))))
    assert rows[0]["words"] == "anna likes rome ." and len(rows[0]["tags"].split()) == 4
    assert isinstance(json.loads(rows[0]["spans"]), list) and rows[1]["tags"] == ""
    lines = good("tag", runs / "tag", "--file", tmp_path / "a.csv", "--quiet", "--json").splitlines()
    assert json.loads(lines[0])["words"] == ["anna", "likes", "rome", "."] and json.loads(lines[1])["tags"] is None


def test_questions_are_answered_from_every_input(runs, tmp_path):
    first = asked(1, seed=4)[0]
    line = good("answer", runs / "answer", first["question"], first["context"])
    probability, _, text = line.rstrip("\n").partition("\t")
    assert 0 < float(probability) <= 1 and text in first["context"]
    (tmp_path / "context.txt").write_text(first["context"])
    assert good("answer", runs / "answer", first["question"], "--context", tmp_path / "context.txt") == line
    lines = f"{first['question']}\t{first['context']}\n\n{first['question']}\t{first['context']}\n"
    assert good("answer", runs / "answer", stdin=lines) == f"{line}\n{line}"
    (tmp_path / "lines.txt").write_text(lines)
    assert good("answer", runs / "answer", "--file", tmp_path / "lines.txt") == f"{line}\n{line}"
    questions = f"{first['question']}\n\n"
    asks = ["answer", runs / "answer", "--context", tmp_path / "context.txt"]
    assert good(*asks, stdin=questions) == f"{line}\n"
    assert good(*asks, "--json", stdin=questions).splitlines()[1] == "null"
    record = json.loads(good("answer", runs / "answer", first["question"], first["context"], "-n", "3", "--json"))
    assert len(record["answers"]) == 3 and record["answers"][0]["text"] == text
    lines = good("answer", runs / "answer", "--file", runs / "asked.json", "--quiet").splitlines()
    assert len(lines) == 200 and [each.split("\t")[0] for each in lines] == [str(n) for n in range(200)]
    silent = good("answer", runs / "answer", "--file", runs / "asked.json", "--quiet", "--threshold=-1e9")
    assert all(each.split("\t")[2] == "" for each in silent.splitlines())
    (tmp_path / "a.csv").write_text(f'question,context\n{first["question"]},"{first["context"]}"\n')
    rows = list(csv.DictReader(io.StringIO(good("answer", runs / "answer", "--file", tmp_path / "a.csv", "--quiet"))))
    assert rows[0]["answer"] == text and float(rows[0]["probability"]) == pytest.approx(float(probability), abs=1e-3)


def test_evaluate_prints_metrics_and_writes_passports(runs, tmp_path):
    text = good("evaluate", runs / "tag", "--data", runs / "words.conll", "--quiet", "--out", tmp_path / "p.json")
    assert "set\texamples\tloss\tF1\tprecision\trecall\taccuracy" in text and "by label:" in text
    assert f"score passports: {tmp_path / 'p.json'}" in text
    again = good(
        "evaluate", runs / "tag", "--data", runs / "words.conll", "--quiet", "--against", tmp_path / "p.json"
    )
    assert "no significant difference between" in again
    metrics = json.loads(good("evaluate", runs / "answer", "--quiet", "--json"))["valid"]
    assert {"exact_match", "f1", "intervals", "threshold", "files"} <= set(metrics)
    assert "Spearman" in good("evaluate", runs / "regress", "--quiet")


def test_mistakes_are_one_sentence(runs, tmp_path):
    assert bad("tag", runs / "tag", "a", "--file", tmp_path / "x.txt") == "Give either texts or --file, not both."
    assert bad("tag", runs / "tag", "a", "--words-column", "1") == (
        "--words-column is for tables; give one with --file."
    )
    assert bad("tag", runs / "regress", "a") == (
        f"{runs / 'regress'}: this is a regression model, not a tagger; use it with regard regress or regard "
        "evaluate."
    )
    assert bad("answer", runs / "answer", "a", "b", "--file", tmp_path / "x.txt") == (
        "Give either texts or --file, not both."
    )
    assert bad("answer", runs / "answer", stdin="who?\n") == (
        "line 1: put question and context on a line, separated by tabs."
    )
    assert bad("answer", runs / "answer", "a") == (
        "1 text was given, but a row of this model has question and context; give all of them."
    )
    assert bad("answer", runs / "answer", "a", " ") == "line 1 is empty; give some text."
    assert bad("answer", runs / "answer", "--file", runs / "asked.json", "-c", tmp_path / "y") == (
        f"--context: {runs / 'asked.json'} has its own context in every row; leave one of them out."
    )
    assert bad("regress", runs / "regress", "a") == (
        "1 text was given, but a row of this model has text and second; give all of them."
    )
    assert bad("evaluate", runs / "tag", "--beam-size", "4") == (
        f"--beam-size 4: for translators, and {runs / 'tag'} is a tagger; leave it out."
    )

"""Tables in, tables out, with the columns that a run has learned from; the words of a table with their tags."""

import csv
import io
import json

import pytest

from commands import bad, call, good
from tuning import BERT, tagged

WORDS = [f"{name}={value}" for name, value in BERT.items() if name != "model.preset"]
SHORT = [*WORDS, "train.steps=4", "train.warmup=1", "train.validate_every=4", "--quiet", "--preset", "bert-tiny"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_words(path, count=40):
    """Write words as Kaggle has them: the sentence's name in its first row only, in a file with a mark and \\r\\n."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(("Sentence #", "Word", "POS", "Tag"))
        for number, sentence in enumerate(tagged(count), start=1):
            for position, (word, tag) in enumerate(sentence):
                rows.writerow((f"Sentence: {number}" if position == 0 else "", word, "X", tag))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    with (folder / "pairs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("left", "right", "note", "gold"))
        for number in range(40):
            rows.writerow((f'a "key", {number}', ("hat", "cup")[number % 2], "x y z", ("no", "yes")[number % 2]))
    named = ["--text-column", "left", "--text-column", "right", "--label-column", "gold"]
    good("train", "classify", "--data", folder / "pairs.csv", *named, "--out", folder / "classify", *SHORT)
    good("train", "tag", "--data", write_words(folder / "words.csv"), "--out", folder / "tag", *SHORT)
    return folder


def test_columns_of_training_are_used_and_said(folder, tmp_path):
    result = call("classify", folder / "classify", "--file", folder / "pairs.csv")
    assert 'pairs.csv: the text is in column "left" and "right".' in result.stderr
    rows = rows_of(result.stdout)
    assert [row["left"] for row in rows] == [f'a "key", {number}' for number in range(40)]
    assert list(rows[0]) == ["left", "right", "note", "gold", "label", "probability_no", "probability_yes"]
    assert json.loads(good("evaluate", folder / "classify", "--data", folder / "pairs.csv", "--json"))
    (tmp_path / "other.csv").write_text("sentence1,sentence2\na,b\n")
    assert len(rows_of(good("classify", folder / "classify", "--file", tmp_path / "other.csv"))) == 1
    named = good("classify", folder / "classify", "--file", folder / "pairs.csv", *["--text-column", "note"] * 2)
    assert len({row["probability_no"] for row in rows_of(named)}) == 1  # the same note everywhere


def test_each_row_with_a_word_gets_its_tag(folder, tmp_path):
    rows = rows_of(good("tag", folder / "tag", "--file", folder / "words.csv"))
    before = rows_of((folder / "words.csv").read_text(encoding="utf-8-sig"))
    assert [row["Word"] for row in rows] == [row["Word"] for row in before]
    assert list(rows[0]) == ["Sentence #", "Word", "POS", "Tag", "predicted_tag", "probability"]
    sentence = [word for word, _ in tagged(1)[0]]
    (tmp_path / "a.conll").write_text("".join(f"{word}\n" for word in sentence))
    alone = good("tag", folder / "tag", "--file", tmp_path / "a.conll", "--quiet").split()
    assert [row["predicted_tag"] for row in rows[: len(sentence)]] == alone[1::2]
    (tmp_path / "b.jsonl").write_text(json.dumps({"tokens": sentence}) + '\n\n{"tokens": []}\n')
    lines = good("tag", folder / "tag", "--file", tmp_path / "b.jsonl", "--json", "--quiet").splitlines()
    assert json.loads(lines[0])["tags"] == alone[1::2] and json.loads(lines[1])["tags"] is None and len(lines) == 3
    (tmp_path / "c.csv").write_text("text\nanna likes rome.\n")  # running text is split into words and marks
    assert rows_of(good("tag", folder / "tag", "--file", tmp_path / "c.csv"))[0]["words"] == "anna likes rome ."


def test_a_table_is_written_as_its_ending_says(folder, tmp_path):
    (tmp_path / "a.json").write_text(
        '[{"left": "a\\tb", "right": "c", "more": [1, "é"]}, {"left": "", "right": "d"}]'
    )
    words = ["classify", folder / "classify", "--file", tmp_path / "a.json", "--quiet"]
    assert rows_of(good(*words))[0]["more"] == '[1, "é"]'
    good(*words, "--out", tmp_path / "b.tsv")
    cells = [line.split("\t") for line in (tmp_path / "b.tsv").read_text().splitlines()]
    assert [len(row) for row in cells] == [6, 6, 6] and cells[1][0] == "a b"
    good(*words, "--out", tmp_path / "b.jsonl")
    records = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert records[0]["more"] == [1, "é"] and records[1]["label"] is None


def test_truncated_texts_are_counted(folder, tmp_path):
    (tmp_path / "a.csv").write_text(f"left,right\n{'key ' * 100},hat\na,b\n")
    result = call("classify", folder / "classify", "--file", tmp_path / "a.csv")
    assert "1 of the texts are longer than the model's maximum length and were truncated" in result.stderr


def test_a_place_that_cannot_be_written_is_refused_first(folder, tmp_path):
    words = ["classify", folder / "classify", "--file", folder / "pairs.csv", "--out"]
    missing = tmp_path / "none"
    assert bad(*words, missing / "a.csv") == (
        f"--out {missing / 'a.csv'}: there is no folder {missing}; create it, or name another file."
    )
    assert bad(*words, tmp_path) == f"--out {tmp_path}: this is a folder; name a file inside it."


def test_a_table_is_not_a_pretrained_model(folder):
    sentence = bad("train", "classify", "--data", folder / "pairs.csv", "--init-from", folder / "pairs.csv")
    assert sentence.startswith(f"init_from: {folder / 'pairs.csv'} is a table of examples, not a model; name a run")


def test_resuming_is_verified_on_files_of_ones_own(folder):
    words = ["verify-resume", "tag", "--data", folder / "words.csv", "--init-from", folder / "tag", "--steps", 2]
    assert "2 steps, interrupted after 1, on cpu: bit-identical." in good(*words, "--quiet")

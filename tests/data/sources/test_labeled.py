import gzip
import json

import pytest

from labeled import Telling
from regard.config.resolve import Layer, resolve
from regard.data.settings.examples import ChoiceSource, ExampleData, LabelSource
from regard.data.sources.labeled import LabeledRow, read_labeled, read_labeled_with_columns
from regard.errors import ConfigError, DataError


def written(folder, name, text):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ("text,label", ("a",)),
        ("Review,Category", ("a",)),
        ("sentence,class", ("a",)),
        ("text_a,text_b,label", ("a", "b")),
        ("sentence1,sentence2,gold_label", ("a", "b")),
        ("premise,hypothesis,label", ("a", "b")),
        ("Review Text,Sentiment", ("a",)),
        ("tweetBody,ourLabel", ("a",)),
        ("sentence1,sentence2,is_duplicate", ("a", "b")),
    ],
)
def test_columns_are_guessed_from_their_names_and_said(tmp_path, header, texts):
    path = written(tmp_path, "a.csv", f"{header}\n{','.join(texts)},yes\n")
    telling = Telling()
    assert read_labeled(LabelSource(path=path), telling) == [LabeledRow(texts, "yes")]
    *names, label = header.split(",")
    shown = " and ".join(f'"{name}"' for name in names)
    assert telling.said == [f'{path}: the text is in column {shown}, the label in "{label}".']


def test_other_columns_do_not_matter_and_blank_rows_have_neither_text_nor_label(tmp_path):
    path = written(tmp_path, "a.tsv.gz", "id\tlabel\ttext\n1\tno\ta, b\n\n2\t\tc\n")
    assert read_labeled(LabelSource(path=path)) == [
        LabeledRow(("a, b",), "no"),
        LabeledRow(("",), ""),
        LabeledRow(("c",), ""),
    ]


def test_the_one_column_that_is_left_is_the_other_one(tmp_path):
    path = written(tmp_path, "a.csv", "Kommentar,label\na,x\n")
    assert read_labeled(LabelSource(path=path, label_column="label")) == [LabeledRow(("a",), "x")]
    path = written(tmp_path, "b.csv", "text,Urteil\na,x\n")
    assert read_labeled(LabelSource(path=path, text_column="TEXT")) == [LabeledRow(("a",), "x")]


def test_among_several_columns_the_one_that_holds_texts_or_repeats_itself_is_taken(tmp_path):
    rows = [(n, f"It was nice number {n}.", "for" if n % 3 else "against", n * 7 % 10) for n in range(12)]
    lines = "".join(f"{n},{text},{verdict},{stars}\n" for n, text, verdict, stars in rows)
    wanted = [LabeledRow((text,), verdict) for _, text, verdict, _ in rows]
    for header in "Id,Review Text,Verdict,points", "Id,Kommentar,label,points", "id,text,Urteil,points":
        assert read_labeled(LabelSource(path=written(tmp_path, "a.csv", f"{header}\n{lines}"))) == wanted
    path = written(tmp_path, "a.csv", f"Id,text,Verdict,points\n{lines}")
    numbers = read_labeled(LabelSource(path=path), is_number=True)
    assert numbers == [LabeledRow((text,), str(points)) for _, text, _, points in rows]


@pytest.mark.parametrize(
    "first", ["A fine comment.,question", "Read this text 5 times,5", "a class of its own here,y"]
)
def test_a_first_example_with_a_known_word_in_it_is_no_header(tmp_path, first):
    path = written(tmp_path, "a.csv", f"{first}\nsomething else,{first.rpartition(',')[2]}\n")
    assert len(read_labeled(LabelSource(path=path))) == 2


def test_without_names_the_column_that_repeats_itself_is_the_label(tmp_path):
    path = written(tmp_path, "a.csv", "no,a\nyes,b\nno,c\n")
    telling = Telling()
    assert read_labeled(LabelSource(path=path), telling)[0] == LabeledRow(("a",), "no")
    assert telling.said == [
        f'{path}: the text is in column "1", the label in "0" (numbers from 0: the first row is read as an '
        "example, not as a header)."
    ]


def test_columns_are_named_or_numbered_by_the_user(tmp_path):
    path = written(tmp_path, "a.csv", "x,y,z\na,b,no\n")
    place = LabelSource(path=path, text_column="x", second_column="y", label_column="z")
    assert read_labeled(place) == [LabeledRow(("a", "b"), "no")]
    place = LabelSource(path=path, text_column=1, label_column=2)
    assert read_labeled(place) == [LabeledRow(("y",), "z"), LabeledRow(("b",), "no")]


def test_json_lines_have_labels_of_any_kind(tmp_path):
    rows = [{"data": {"text": " a "}, "label": 1}, {"data": {"text": "b"}, "label": True}]
    rows.append({"data": {"text": "c"}, "label": None})
    path = written(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = read_labeled(LabelSource(path=path, text_column="data.text"))
    assert found == [LabeledRow(("a",), "1"), LabeledRow(("b",), "true"), LabeledRow(("c",), "")]


def test_a_datasets_set_names_its_classes(tmp_path):
    import datasets

    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])}
    )
    found = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [1, 0, -1]}, features=features)
    found.save_to_disk(tmp_path / "set")
    assert read_labeled(LabelSource(path=f"hf:{tmp_path / 'set'}")) == [
        LabeledRow(("a",), "yes"),
        LabeledRow(("b",), "no"),
        LabeledRow(("c",), ""),
    ]


def test_only_the_first_examples_are_taken_and_that_is_said(tmp_path):
    path = written(tmp_path, "a.csv", "text,label\na,x\nb,y\n")
    telling = Telling()
    assert len(read_labeled(LabelSource(path=path, max_rows=1), telling)) == 1
    assert telling.said[-1] == f"{path}: the first 1 of 2 examples are used (max_rows)."


def test_stories_of_the_miniature_world_are_labelled_by_their_plots():
    found = read_labeled(LabelSource(path="miniature:valid", max_rows=40))
    assert found == read_labeled(LabelSource(path="miniature:valid", max_rows=40))
    assert {each.label for each in found} <= {"lost", "lent", "gift", "errand", "swapped", "passed on", "found"}
    assert len({each.label for each in found}) > 3


WAY_OUT = "set --text-column (twice for pairs) and --label-column (text_column, second_column, label_column)."


@pytest.mark.parametrize(
    ("name", "text", "place", "sentence"),
    [
        ("a.csv", "", {}, "there are no examples in it; name another file."),
        (
            "a.csv",
            "x,y,z\na,b,c\n",
            {},
            f'no column (0 with "x", 1 with "y", 2 with "z") is known to hold the text; {WAY_OUT}',
        ),
        (
            "a.csv",
            "text,y,z\na,b,c\n",
            {"text_column": "text"},
            f"no column (text, y, z) is known to hold the label; {WAY_OUT}",
        ),
        ("a.csv", "text,label\na,b\n", {"text_column": "review"}, 'there is no column "review" (text, label).'),
        ("a.csv", "a,b\n", {"label_column": 2}, "there is no column 2 (counted from 0); it has 2 columns."),
        (
            "a.csv",
            "text,label\na,b\n",
            {"text_column": "text", "label_column": "text"},
            f'column "text" is both text and label; {WAY_OUT}',
        ),
        ("a.csv", "a,b\nc,d\n", {}, f"either column could be the label, both have 2 distinct values; {WAY_OUT}"),
        (
            "a.csv",
            "text,label\na,b,c\n",
            {},
            "line 2 has 3 columns, but the first has 2; put quotes around texts that hold the separator.",
        ),
        ("a.csv", "text,label\n", {}, "there are no examples in it; name another file."),
        (
            "a.jsonl",
            '{"label": 1}\n',
            {"text_column": "label"},
            f'column "label" is both text and label; {WAY_OUT}',
        ),
        (
            "a.jsonl",
            '{"text": 3, "label": 1}\n',
            {},
            f'record 1 has no text under "text" (but the number 3); {WAY_OUT}',
        ),
        (
            "a.jsonl",
            '{"text": "\\ud800", "label": 1}\n',
            {},
            'record 1 has half a character (a lone surrogate) under "text"; write it whole.',
        ),
        (
            "a.json",
            "[1]",
            {},
            "this is not a list of JSON objects; write one object per line and name the file .jsonl.",
        ),
        (
            "a.txt",
            "a",
            {},
            'the extension ".txt" is not a table format; use .csv, .tsv, .jsonl or .json (each also .gz).',
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path, name, text, place, sentence):
    path = written(tmp_path, name, text)
    with pytest.raises(DataError) as error:
        read_labeled(LabelSource(path=path, **place))
    assert str(error.value) == f"{path}: {sentence}"


@pytest.mark.parametrize(
    ("schema", "values", "sentence"),
    [
        (
            LabelSource,
            {"path": "a.csv", "second_column": "b"},
            "second_column: name the first text too, as text_column.",
        ),
        (
            ChoiceSource,
            {"path": "a.csv", "choices_column": "x", "choice_columns": ["a", "b"]},
            "choice_columns: choices_column is given too; give one or the other.",
        ),
        (
            ChoiceSource,
            {"path": "a.csv", "choice_columns": ["a"]},
            "choice_columns: only one column; name at least two.",
        ),
        (
            ExampleData[LabelSource],
            {"train": {"path": "a.csv"}, "valid": {"path": "a.csv"}},
            'valid: "a.csv" is the training set too; leave it out to hold out a part of it.',
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(schema, values, sentence):
    with pytest.raises(ConfigError) as error:
        resolve(schema, [Layer("the call", values)])
    assert str(error.value) == sentence


def test_other_sets_of_the_miniature_world_have_their_own_labels():
    reviews = read_labeled(LabelSource(path="miniature:reviews/valid", max_rows=40))
    assert {each.label for each in reviews} == {"positive", "negative"}
    pairs = read_labeled(LabelSource(path="miniature:paraphrases/valid", max_rows=40))
    assert {each.label for each in pairs} == {"yes", "no"} and all(len(each.texts) == 2 for each in pairs)
    assert len(read_labeled(LabelSource(path="miniature:plots/test", max_rows=3))) == 3
    with pytest.raises(DataError) as raised:
        read_labeled(LabelSource(path="miniature:poems/valid", max_rows=40))
    assert str(raised.value).startswith('miniature:poems/valid: "poems" is not one of plots, reviews, paraphrases, ')


def test_numbers_are_found_among_texts(tmp_path):
    (tmp_path / "a.csv").write_text("A man sings.,A man is singing.,4.5\n2 men.,Two men.,5\n")
    found = read_labeled(LabelSource(path=str(tmp_path / "a.csv")), is_number=True)
    assert found == [
        LabeledRow(("A man sings.", "A man is singing."), "4.5"),
        LabeledRow(("2 men.", "Two men."), "5"),
    ]


def test_numbers_have_names_of_their_own(tmp_path):
    (tmp_path / "a.csv").write_text("sentence1,sentence2,label,score\na,b,x,0.5\n")
    assert read_labeled(LabelSource(path=str(tmp_path / "a.csv")), is_number=True)[0].label == "0.5"
    assert read_labeled(LabelSource(path=str(tmp_path / "a.csv")))[0].label == "x"


def test_what_is_no_number_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("text,score\na,0.5\nb,much\n")
    with pytest.raises(DataError, match='line 3 has "much" under "score", which is not a number'):
        read_labeled(LabelSource(path=str(tmp_path / "a.csv")), is_number=True)


def test_pairs_of_the_miniature_world_have_scores():
    found = read_labeled(LabelSource(path="miniature:test", max_rows=60), is_number=True)
    assert {each.label for each in found} == {"0", "1", "2", "3", "4", "5"}
    assert all(len(each.texts) == 2 for each in found)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_with_other_separators(tmp_path, separator):
    text = 'text;label\n"a; b, c";x\nd, e;y\n'.replace(";", separator)
    wanted = [LabeledRow((f"a{separator} b, c",), "x"), LabeledRow(("d, e",), "y")]
    assert read_labeled(LabelSource(path=written(tmp_path, "a.csv", text))) == wanted


def test_a_json_list_of_objects(tmp_path):
    path = written(tmp_path, "a.json", '[{"id": 1, "text": "a", "label": 1}, {"text": "b", "label": null}]')
    assert read_labeled(LabelSource(path=path)) == [LabeledRow(("a",), "1"), LabeledRow(("b",), "")]


def test_the_columns_of_a_training_set_are_looked_for_first(tmp_path):
    path = written(tmp_path, "a.csv", "text,Left,Right,label,gold\na,b,c,d,e\n")
    place, telling = LabelSource(path=path), Telling()
    usual = {"text_column": "left", "second_column": "right", "label_column": "gold"}
    found, columns = read_labeled_with_columns(place, telling, usual=usual)
    assert found == [LabeledRow(("b", "c"), "e")]
    assert columns == {"text_column": "Left", "second_column": "Right", "label_column": "gold"}
    assert 'column "Left" and "Right", the label in "gold"' in telling.said[0]
    said = LabelSource(path=path, text_column="text", label_column="label")
    assert read_labeled_with_columns(said, usual=usual)[0] == [LabeledRow(("a",), "d")]
    other = {"text_column": "body", "label_column": 3}
    assert read_labeled_with_columns(place, usual=other)[0] == [LabeledRow(("a",), "d")]
    path = written(tmp_path, "b.csv", "1,one text,x\n2,other text,y\n")
    usual = {"text_column": 1, "label_column": 2}
    found, columns = read_labeled_with_columns(LabelSource(path=path), usual=usual)
    assert found[0] == LabeledRow(("one text",), "x") and columns == usual

"""Sets of the miniature world as files: each in a form that other tools know."""

import csv
import json

import pytest

from regard import miniature
from regard.data.settings.examples import LabelSource
from regard.data.sources.labeled import read_labeled
from regard.errors import DataError
from regard.miniature.export import EXPORTED, exported


@pytest.mark.parametrize(("name", "columns"), [("plots", 1), ("reviews", 1), ("paraphrases", 2)])
def test_a_table_is_read_back_as_it_would_be_made(name, columns, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(exported(name, "valid", 30)) + "\n", encoding="utf-8")
    found = read_labeled(LabelSource(path=str(path)))
    assert found == read_labeled(LabelSource(path=f"miniature:{name}/valid", max_rows=30))
    assert len(found[0].texts) == columns


def test_likeness_and_probes_are_tables():
    rows = list(csv.DictReader("\n".join(exported("likeness", "test", 12)).splitlines()))
    assert [float(row["score"]) for row in rows] == [pair.score for pair in miniature.likeness("test", 12)]
    rows = list(csv.DictReader("\n".join(exported("probes", "test", 40)).splitlines(keepends=True)))
    for row, probe in zip(rows, miniature.story_probes("test", 40), strict=True):
        assert row[f"choice{row['label']}"] == probe.right.strip()
    assert {row["label"] for row in rows} == {"0", "1"}


def test_entities_have_a_token_a_line_and_a_blank_line_between():
    sentences = "\n".join(exported("entities", "test", 10)).strip().split("\n\n")
    assert len(sentences) == 10
    for text, sentence in zip(sentences, miniature.entities("test", 10), strict=True):
        tokens, tags = zip(*(line.split() for line in text.split("\n")), strict=True)
        assert (tokens, tags) == sentence


def test_questions_have_the_form_of_squad():
    (text,) = exported("questions", "test", 30)
    found = json.loads(text)
    asked = [
        (paragraph["context"], question)
        for article in found["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    assert len(asked) == 30 and len({question["id"] for _, question in asked}) == 30
    for context, question in asked:
        assert question["is_impossible"] == (not question["answers"])
        for answer in question["answers"]:
            start = answer["answer_start"]
            assert context[start : start + len(answer["text"])] == answer["text"]


@pytest.mark.parametrize("name", EXPORTED)
def test_every_set_has_rows(name):
    rows = [json.loads(line) for line in exported(name, "valid", 4, as_rows=True)]
    assert len(rows) == 4 and all(row.keys() == rows[0].keys() for row in rows)


def test_an_unknown_set_is_refused():
    with pytest.raises(DataError) as raised:
        exported("poems", "train", 3)
    assert str(raised.value) == f'set: "poems" is not one of {", ".join(EXPORTED)}.'

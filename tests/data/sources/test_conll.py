"""Words with tags out of files."""

import json

import pytest

from labeled import Telling
from regard import miniature
from regard.data.settings.examples import TagSource
from regard.data.sources.conll import read_tagged
from regard.data.sources.tagged_tables import TaggedRow
from regard.errors import DataError


def read(tmp_path, text, name="a.conll", has_tags=True, **settings):
    (tmp_path / name).write_text(text, encoding="utf-8")
    telling = Telling()
    return read_tagged(TagSource(path=str(tmp_path / name), **settings), telling, has_tags), telling


def test_a_word_a_line_and_a_blank_line_between_sentences(tmp_path):
    found, telling = read(tmp_path, "Anna\tB-PER\nsleeps\tO\n\n\nin\tO\nRome\tB-LOC\n\t\nyes\tO\n")
    assert found == [
        TaggedRow(("Anna", "sleeps"), ("B-PER", "O")),
        TaggedRow(("in", "Rome"), ("O", "B-LOC")),
        TaggedRow(("yes",), ("O",)),
    ]
    assert "the words are in column 0, their tags in column 1" in telling.said[0] and not telling.warned


def test_the_first_column_is_the_word_and_the_last_the_tag_of_conll_2003(tmp_path):
    text = "-DOCSTART- -X- -X- O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\nUN NNP I-NP I-ORG\nUS NNP I-NP B-ORG\n"
    found, telling = read(tmp_path, text, "eng.train")
    assert found == [TaggedRow(("EU", "rejects", "UN", "US"), ("B-ORG", "O", "B-ORG", "B-ORG"))]
    assert "IOB1" in telling.said[1]
    chunks, _ = read(tmp_path, text, "eng.train", label_column=2)
    assert chunks[0].tags == ("B-NP", "B-VP", "B-NP", "I-NP")


def test_a_word_that_begins_with_a_hash_is_no_comment(tmp_path):
    found, _ = read(tmp_path, "# a comment about it\n#\tO\n#tag\tO\n# 1\tB-x\n")
    assert found[0].words == ("#", "#tag", "# 1")


def test_conllu_has_its_words_second_and_parts_of_speech(tmp_path):
    rest = "\t_" * 6
    text = f"# text = geht's\n1-2\tgeht's\t_\t_{rest}\n1\tgeht\tgehen\tVERB{rest}\n2\tes\tes\tPRON{rest}\n"
    found, telling = read(tmp_path, text, "a.conllu")
    assert found == [TaggedRow(("geht", "es"), ("VERB", "PRON"))]
    assert len(telling.said) == 1  # nothing is said about spans, there are none


def test_lists_in_json_lines(tmp_path):
    rows = [{"id": 1, "tokens": ["In", "Rome"], "ner_tags": ["O", "S-LOC"]}, {"tokens": [], "ner_tags": []}]
    found, telling = read(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "a.jsonl")
    assert found == [TaggedRow(("In", "Rome"), ("O", "B-LOC"))]
    assert 'the words are in "tokens", their tags in "ner_tags"' in telling.said[0]


def test_words_alone_are_enough_to_be_tagged(tmp_path):
    assert read(tmp_path, "In\nRome\n\nyes\n", has_tags=False)[0] == [
        TaggedRow(("In", "Rome"), ()),
        TaggedRow(("yes",), ()),
    ]


def test_broken_sequences_are_counted_and_read(tmp_path):
    found, telling = read(tmp_path, "a\tB-x\nb\tI-x\nc\tO\nd\tI-y\n")
    assert found[0].tags == ("B-x", "I-x", "O", "B-y")
    assert "1 spans break the rules of IOB2" in telling.warned[0]


def test_no_spans_are_looked_for_where_none_are_meant(tmp_path):
    assert read(tmp_path, "a\tI-x\nb\tB-x\n", scheme="none")[0][0].tags == ("I-x", "B-x")


def test_a_count_takes_the_first(tmp_path):
    assert len(read(tmp_path, "a\tO\n\nb\tB-x\n\nc\tO\n", max_rows=2)[0]) == 2


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "a.conll", "there are no sentences"),
        ("a\nb\n", "a.conll", "has 1 column; a word and its tag need two"),
        ("a\tO\nb\n", "a.conll", "line 2 has 1 column, but column 1 (counted from 0) is needed"),
        ("a\tO\n\tO\n", "a.conll", "line 2 has no word"),
        ("a\tO\nb\t\n", "a.conll", "line 2 has no tag"),
        ("word,tag\na,O\n,O\n", "a.csv", 'line 3 has nothing under "word"'),
        ("word,tag\na,O\nb\n", "a.csv", 'line 3 has nothing under "tag"'),
        ("a\n\nb\n", "a.csv", 'column "0" holds the words, so the tags need another'),
        ("a,b,c\n", "a.csv", 'no column (0 with "a", 1 with "b", 2 with "c") is known to hold the words'),
        ("", "a.csv", "there are no sentences"),
        ("text,tags\na b,O\n", "a.csv", "line 2 has 2 words but 1 tags"),
        ("text,tags\na b,\"['O', x]\"\n", "a.csv", 'has a list under "tags" that cannot be read'),
        ("word,tag\n" + "a,O\n" * 1001, "a.csv", "there is no sentence boundary in 1,001 words"),
        ("[1]", "a.json", "this is not a list of JSON objects"),
        ('{"tokens": ["a"], "tags": ["O", "O"]}\n', "a.jsonl", "record 1 has 1 words but 2 tags"),
        ('{"tokens": 1, "tags": ["O"]}\n', "a.jsonl", 'has no list under "tokens"'),
        ('{"tokens": ["a", ""], "tags": ["O", "O"]}\n', "a.jsonl", "has an empty or broken entry"),
        ('{"x": ["a"]}\n', "a.jsonl", "no column (x) is known to hold the words"),
    ],
)
def test_mistakes_in_files_are_named(tmp_path, text, name, words):
    with pytest.raises(DataError) as raised:
        read(tmp_path, text, name)
    assert words in str(raised.value) and name in str(raised.value)


def test_columns_of_a_conll_file_have_no_names(tmp_path):
    with pytest.raises(DataError, match='have no names such as "word"'):
        read(tmp_path, "a\tO\n", word_column="word")


def test_news_of_the_miniature_world_have_tags():
    found = read_tagged(TagSource(path="miniature:valid", max_rows=30))
    assert found == read_tagged(TagSource(path="miniature:entities/valid", max_rows=30))
    assert [tuple(each) for each in miniature.entities("valid", 30)] == [tuple(each) for each in found]
    assert len(read_tagged(TagSource(path="miniature:unseen-names"))) == 500
    with pytest.raises(DataError, match='miniature:reviews/valid: "reviews" is not one of entities, '):
        read_tagged(TagSource(path="miniature:reviews/valid"))


KAGGLE = (
    "Sentence #,Word,POS,Tag\r\nSentence: 1,Anna,NNP,B-per\r\n"
    ',"a, b",X,O\r\nSentence: 2,"""",X,O\r\n,Rome,X,B-geo\r\n'
)


def test_a_word_a_row_and_a_column_that_numbers_sentences(tmp_path):
    found, telling = read(tmp_path, "\ufeff" + KAGGLE, "a.csv")
    assert found == [TaggedRow(("Anna", "a, b"), ("B-per", "O")), TaggedRow(('"', "Rome"), ("O", "B-geo"))]
    assert telling.said[0].endswith(
        'the words are in "Word", their tags in "Tag", one word per row, sentences by "Sentence #".'
    )
    assert read(tmp_path, KAGGLE, "a.csv", label_column="POS")[0][0].tags == ("NNP", "X")
    repeated = "sentence_id,words,labels\n0,a,O\n0,b,B-x\n1,c,O\n"
    assert [each.words for each in read(tmp_path, repeated, "a.csv")[0]] == [("a", "b"), ("c",)]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_word_a_row_and_a_blank_row_between_sentences(tmp_path, name):
    text = "word,tag\nAnna,B-PER\n.,O\n\n,\nyes,O\n"
    text = text if name == "a.csv" else text.replace(",", "\t")
    wanted = [TaggedRow(("Anna", "."), ("B-PER", "O")), TaggedRow(("yes",), ("O",))]
    found, telling = read(tmp_path, text, name)
    assert found == wanted
    assert "a blank row between sentences" in telling.said[0]
    assert read(tmp_path, text.split("\n", 1)[1], name)[0] == wanted  # without names of columns


@pytest.mark.parametrize("tags", ["O B-LOC", "['O', 'B-LOC']", '[""O"", ""B-LOC""]'])
def test_a_sentence_a_row_with_its_tags_in_a_cell(tmp_path, tags):
    found, _ = read(tmp_path, f'Sentence #,Sentence,Tag\nSentence: 1,in Rome,"{tags}"\n', "a.csv")
    assert found == [TaggedRow(("in", "Rome"), ("O", "B-LOC"))]


def test_a_list_of_objects_in_one_json_file(tmp_path):
    rows = [{"tokens": ["In", "Rome"], "tags": ["O", "B-LOC"]}]
    wanted = [TaggedRow(("In", "Rome"), ("O", "B-LOC"))]
    assert read(tmp_path, json.dumps(rows), "a.json")[0] == wanted
    assert read(tmp_path, json.dumps({"data": rows}), "a.json")[0] == wanted
    assert read(tmp_path, json.dumps(rows[0]) + "\n" + json.dumps(rows[0]), "a.json")[0] == wanted * 2

"""Tagging of the rows of a table."""

import json

from head_bundles import head_bundle
from labeled import Telling
from regard.tasks.tag.pipeline import Tagger


def test_running_text_is_split_into_words_with_a_tag_each(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,the film was good.\n2,\n")
    tagger = Tagger(head_bundle("tag"))
    header, first, blank = tagger.table(str(tmp_path / "a.csv")).cells()
    result = tagger("the film was good.")
    assert header == ["id", "text", "words", "tags", "spans"] and blank[2:] == ["", "", ""]
    assert first[2:4] == ["the film was good .", " ".join(result.tags)]
    assert json.loads(first[4]) == [vars(span) for span in result.spans]


def test_a_table_with_a_word_per_row_gets_a_tag_per_row(tmp_path):
    (tmp_path / "a.csv").write_text("sentence,word\n1,the\n1,film\n2,songs\n")
    tagger, progress = Tagger(head_bundle("tag")), Telling()
    table = tagger.table(str(tmp_path / "a.csv"), progress=progress)
    tags = [*tagger({"words": ("the", "film")}).tags, *tagger({"words": ("songs",)}).tags]
    assert [row["tag"] for row in table.records()] == tags
    assert table.cells()[0] == ["sentence", "word", "tag", "probability"] and "a.csv" in progress.said[0]


def test_lists_of_words_are_kept_as_they_are(tmp_path):
    rows = [{"tokens": ["New-York", "sleeps"]}, {"tokens": []}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tagger = Tagger(head_bundle("tag"))
    first, empty = tagger.table(str(tmp_path / "a.jsonl")).records()
    assert first["words"] == ["New-York", "sleeps"]
    assert first["tags"] == list(tagger({"words": ("New-York", "sleeps")}).tags)
    assert empty["tags"] is None

"""Sizes of training data, from files and their beginning."""

import gzip

import pytest

from regard.data.settings.examples import LabelSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.data.sources.memory import TEXT, memory_lines
from regard.runs.planning import survey as module
from regard.runs.planning.survey import survey
from regard.tasks.planning.inputs import Survey


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.de").write_text("äß\n" * 100, encoding="utf-8")
    (tmp_path / "a.en").write_text("word\n" * 100)
    with gzip.open(tmp_path / "big.txt.gz", "wt") as file:
        file.write("".join(f"line {number} of many\n" for number in range(50_000)))
    return tmp_path


def test_pairs_have_the_characters_of_both_sides(files):
    source = PairSource(source=str(files / "a.de"), target=str(files / "a.en"))
    assert survey(source) == Survey(100, 800, sides=2)
    assert survey(source.model_copy(update={"max_rows": 50})) == Survey(50, 400, sides=2)


def test_a_large_file_is_estimated_from_its_beginning(files, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 100_000)
    found = survey(TextSource(paths=(str(files / "big.txt.gz"),)))
    assert found is not None
    assert found.rows == pytest.approx(50_000, rel=0.2) and found.characters == pytest.approx(1_038_890, rel=0.2)
    (files / "plain.txt").write_text("0123456789\n" * 50_000)
    assert survey(TextSource(paths=(str(files / "plain.txt"),))) == Survey(50_000, 550_000)


def test_folders_tables_and_the_miniature_world_are_surveyed_too(files):
    (files / "books").mkdir()
    (files / "books" / "one.txt").write_text("a\nb\n")
    (files / "books" / "not.bin").write_text("zzz")
    assert survey(TextSource(paths=(str(files / "books"),))) == Survey(2, 4)
    (files / "t.csv").write_text("text,label\nfine,good\n")
    assert survey(LabelSource(path=str(files / "t.csv"))) == Survey(2, 21)
    few = survey(PairSource(path="miniature:train", max_rows=500))
    assert few is not None and few.rows == 500 and few.sides == 2 and 20_000 < few.characters < 80_000
    stories = survey(TextSource(paths=("miniature:train",)))
    assert stories is not None and stories.rows == module.MINIATURE_ROWS


def test_rows_of_several_lines_are_counted_as_rows(tmp_path):
    def rows(name, text):
        (tmp_path / name).write_text(text)
        found = survey(LabelSource(path=str(tmp_path / name)))
        return found and found.rows

    assert rows("a.conll", "Ada B-PER\nspoke O\n\nYes O\n.\tO\n \n\nNo O\n") == 3
    assert rows("a.json", '{"data": [{"paragraphs": [{"qas": [{"question": "a"}, {"question": "b"}]}]}]}') == 2
    assert rows("b.json", '[{"text": "a"}, {"text": "b"}, {"text": "c"}]') == 3
    assert rows("a.jsonl", '{"text": "a"}\n{"text": "b"}\n') == 2


def test_rows_from_memory_are_surveyed_as_their_file_will_be(tmp_path):
    pairs = memory_lines([("ein Haus", "a house")] * 40, ({"source": TEXT, "target": TEXT},))
    source = PairSource(path=str(tmp_path / "train.jsonl"))
    assert survey(source) is None
    before = survey(source, pairs)
    assert before == Survey(40, 40 * 15, sides=2)
    (tmp_path / "train.jsonl").write_text("".join(line + "\n" for line in pairs))
    written = survey(source)
    assert written is not None and written.rows == 40 and abs(written.characters - before.characters) < 20


def test_what_cannot_be_read_has_no_size(files):
    assert survey(PairSource(source=str(files / "no"), target=str(files / "a.en"))) is None
    assert survey(TextSource(paths=("hf:name",))) is None
    (files / "cut.txt.gz").write_bytes(b"\x1f\x8b\x08")
    assert survey(TextSource(paths=(str(files / "cut.txt.gz"),))) is None

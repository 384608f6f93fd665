"""Sizes of training data, from files and their beginning."""

import gzip

import pytest

from regard.data.settings.examples import LabelSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.data.sources.memory import TEXT, memory_lines
from regard.runs.planning import survey as module
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.planning.survey import survey
from regard.text.training import train_tokenizer


def sizes(found):
    """The rows, characters and sides of a survey."""
    return found and (found.rows, found.characters, found.sides)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.de").write_text("äß\n" * 100, encoding="utf-8")
    (tmp_path / "a.en").write_text("word\n" * 100)
    with gzip.open(tmp_path / "big.txt.gz", "wt") as file:
        file.write("".join(f"line {number} of many\n" for number in range(50_000)))
    return tmp_path


def test_pairs_have_the_characters_of_both_sides(files):
    source = PairSource(source=str(files / "a.de"), target=str(files / "a.en"))
    assert sizes(survey(source)) == (100, 800, 2)
    assert sizes(survey(source.model_copy(update={"max_rows": 50}))) == (50, 400, 2)


def test_a_large_file_is_estimated_from_its_beginning(files, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 100_000)
    found = survey(TextSource(paths=(str(files / "big.txt.gz"),)))
    assert found is not None
    assert found.rows == pytest.approx(50_000, rel=0.2) and found.characters == pytest.approx(1_038_890, rel=0.2)
    (files / "plain.txt").write_text("0123456789\n" * 50_000)
    assert sizes(survey(TextSource(paths=(str(files / "plain.txt"),)))) == (50_000, 550_000, 1)


def test_folders_tables_and_the_miniature_world_are_surveyed_too(files):
    (files / "books").mkdir()
    (files / "books" / "one.txt").write_text("a\nb\n")
    (files / "books" / "not.bin").write_text("zzz")
    assert sizes(survey(TextSource(paths=(str(files / "books"),)))) == (2, 4, 1)
    (files / "t.csv").write_text("text,label\nfine,good\n")
    assert sizes(survey(LabelSource(path=str(files / "t.csv")))) == (2, 21, 1)
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
    assert before.rows == 40 and before.sides == 2 and 600 <= before.characters < 620
    (tmp_path / "train.jsonl").write_text("".join(line + "\n" for line in pairs))
    written = survey(source)
    assert written is not None and written.rows == 40 and abs(written.characters - before.characters) < 20


def test_what_cannot_be_read_has_no_size(files):
    assert survey(PairSource(source=str(files / "no"), target=str(files / "a.en"))) is None
    assert survey(TextSource(paths=("hf:name",))) is None
    (files / "cut.txt.gz").write_bytes(b"\x1f\x8b\x08")
    assert survey(TextSource(paths=(str(files / "cut.txt.gz"),))) is None


@pytest.mark.parametrize("task", ["translate", "language-model", "masked-language-model"])
def test_text_without_spaces_has_a_vocabulary_for_its_characters(task, tmp_path):
    """Few lines hold many characters, all of which a vocabulary has to have."""
    lines = ["".join(chr(0x4E00 + (31 * row + 7 * place) % 900) for place in range(18)) for row in range(150)]
    for name in ("a", "b"):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = {"data.train.source": str(tmp_path / "a"), "data.train.target": str(tmp_path / "b")}
    resolved = resolve_run(
        find_recipe(task), pairs if task == "translate" else {"data.train.paths": [pairs["data.train.source"]]}
    )
    found = survey(resolved.settings.data.train)
    assert (
        found is not None
        and found.ideograms > 0.9
        and found.alphabet > 800
        and found.weighted_characters > 2 * found.characters
    )
    assert train_tokenizer(lines, resolved.settings.text).size <= resolved.settings.text.size
    if task != "language-model":  # its tokens are made of bytes
        assert "distinct characters" in resolved.source("text.size")

import json
from pathlib import Path

import numpy as np
import pytest

from commands import bad, good
from encoder_folders import bert_tokenizer, small_encoder_bundle
from golden_vectors import GOLDEN
from regard.checkpoint.bundle import write_bundle
from regard.interop.word_vector_files import VectorTable, write_word_vectors


@pytest.fixture
def golden(tmp_path):
    path = tmp_path / "golden.txt"
    write_word_vectors(path, VectorTable(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32)), "glove")
    return path


def test_neighbours_of_a_file(golden):
    assert good("vectors", "neighbors", golden, "orange", "--top", 1) == "orange\tapple\t0.9985\n"
    neighbors = json.loads(good("vectors", "neighbors", golden, "orange", "--top", 2, "--exclude", "apple", "--json"))
    assert neighbors["words"] == ["orange"] and "apple" not in [each["word"] for each in neighbors["nearest"]]


def test_questions_come_from_files_too(golden, tmp_path):
    (tmp_path / "q.txt").write_text("man woman king\n\nman woman zebra\n")
    lines = good("vectors", "analogy", golden, "--file", tmp_path / "q.txt", "--top", 1).splitlines()
    assert lines[0].startswith("man woman king\tqueen\t") and lines[1] == "man woman zebra\tunknown: zebra"
    assert good("vectors", "similarity", golden, stdin="man king\n").startswith("man king\t0.")
    assert good("vectors", "odd-one-out", golden, "man", "king", "apple") == "man king apple\tapple\n"


def test_a_map_is_a_picture_and_a_page_of_its_own(golden, tmp_path):
    for method in ("pca", "tsne"):
        printed = good("vectors", "map", golden, "--top", 6, "--method", method, "--out", tmp_path / "maps" / method)
        picture, page = printed.splitlines()
        assert Path(picture).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        text = Path(page).read_text(encoding="utf-8")
        assert '"queen"' in text and "http" not in text


def test_evaluation_says_coverage(golden, tmp_path):
    (tmp_path / "q.txt").write_text(": family\nman woman king queen\nman woman boy girl\n")
    (tmp_path / "p.txt").write_text("man,king,6\napple,orange,9\nman,tree,3\n")
    text = good("evaluate", golden, "--analogies", tmp_path / "q.txt", "--similarities", tmp_path / "p.txt")
    assert "family\t2\t1\t100.0 %" in text
    row = next(line for line in text.splitlines() if line.startswith(str(tmp_path / "p.txt"))).split("\t")
    assert row[1] == "2" and row[3].startswith("1.000 [") and row[-1] == "3"


def test_mistakes_are_one_sentence(golden, tmp_path):
    assert 'there is no vector for "quen"; did you mean "queen"?' in bad("vectors", "neighbors", golden, "quen")
    assert "there is no such file" in bad("vectors", "neighbors", tmp_path / "none.txt", "king")
    assert "analogy takes 3 words, not 2: man woman." in bad("vectors", "analogy", golden, "man", "woman")
    assert "has no test sets; give --analogies FILE or --similarities FILE." in bad("evaluate", golden)
    assert "0 words make no map" in bad("vectors", "map", golden)
    assert 'metric: "far" is not one of' in bad("vectors", "neighbors", golden, "king", "--metric", "far")
    (tmp_path / "empty.bin").write_bytes(b"9 4\nking \x01")
    assert "it ends inside word 1 of 9" in bad("vectors", "neighbors", tmp_path / "empty.bin", "king")


def test_a_file_is_converted_when_it_is_said_how(tmp_path):
    place = tmp_path / "v.txt"
    place.write_text("the 3 4\nnew york 1 2\nof 5 6\n")
    assert "is converted to one of word2vec, word2vec-binary, glove; choose one with --to." in bad("convert", place)
    good("convert", place, "--to", "word2vec", "--out", tmp_path / "w.txt")
    assert (tmp_path / "w.txt").read_text() == "3 2\nthe 3 4\nnew_york 1 2\nof 5 6\n"


def test_one_word_has_one_vector_and_many_contexts(golden, tmp_path):
    texts = ["The king eats an apple.", "An orange for the king!"]
    assert "in context\t1.0000\nwithout context\t1.0000" in good("similar", golden, *texts, "--word", "king")
    write_bundle(tmp_path / "bert", small_encoder_bundle(bert_tokenizer()))
    printed = good("similar", tmp_path / "bert", *texts, "--word", "king", "--beside", golden)
    rows = dict(line.split("\t") for line in printed.splitlines())
    assert float(rows["in context"]) < 0.9999 and rows["word vectors (golden.txt)"] == "1.0000"


def test_texts_are_compared_by_their_words(golden):
    near = float(good("similar", golden, "the apple", "An ORANGE!"))
    assert near > 0.99 and float(good("similar", golden, "apple", "king")) < 0.5
    lines = good("similar", golden, stdin="apple\torange\nzebra\torange\n").splitlines()
    assert float(lines[0]) > 0.99 and lines[1] == "0.0000"
    assert 'There is no word "king" in "a queen"' in bad("similar", golden, "a king", "a queen", "--word", "king")
    assert "pooling" in bad("similar", golden, "a", "b", "--pooling", "cls")
    assert "name it with --word" in bad("similar", golden, "a", "b", "--beside", golden)


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity", "1_0", "much"])
@pytest.mark.parametrize("line", [1, 2])
def test_a_rating_is_a_number(golden, tmp_path, value, line):
    rows = ["man,king,6", "apple,orange,9"]
    rows.insert(line - 1, f"man,tree,{value}")
    (tmp_path / "p.txt").write_text("\n".join(rows))
    if line == 1 and value in ("1_0", "much"):  # a header, for all that is known
        good("evaluate", golden, "--similarities", tmp_path / "p.txt")
        return
    assert bad("evaluate", golden, "--similarities", tmp_path / "p.txt") == (
        f"{tmp_path / 'p.txt'}: line {line} is not two words and a number; correct it, or leave it out."
    )


@pytest.mark.parametrize("method", ["pca", "tsne"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_vectors_are_one_point(tmp_path, method, value):
    path = tmp_path / "equal.txt"
    write_word_vectors(path, VectorTable(list("abcd"), np.full((4, 3), value, np.float32)), "glove")
    good("vectors", "map", path, "--top", 4, "--method", method, "--out", tmp_path / "map")
    assert (tmp_path / "map.png").is_file()
    for words in (["a"], ["a", "b"]):
        refused = bad("vectors", "map", path, *words, "--method", method, "--out", tmp_path / "few")
        assert refused.startswith(f"{len(words)} words make no map;") and not (tmp_path / "few.png").exists()

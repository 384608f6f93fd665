import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.interop.word_vector_files import (
    FORMS,
    VectorTable,
    read_word_vectors,
    underscored,
    write_word_vectors,
)

NASTY = ["the", "naïve", "日本語", "🦊", "e\u0301", "\u202eabc", "a\u00adb", "०१२", ":", '"', "1", "-0.5", "\ufeffx"]


def table(words=NASTY, width=5, seed=0):
    generator = np.random.default_rng(seed)
    return VectorTable(list(words), generator.normal(size=(len(words), width)).astype(np.float32))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_every_form_comes_back_to_the_bit(tmp_path, form, ending):
    path = tmp_path / f"vectors.txt{ending}"
    ours = table()
    write_word_vectors(path, ours, form)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(ending)
    words, vectors = read_word_vectors(path)
    assert words == ours.words
    assert np.array_equal(vectors, ours.vectors)


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9).filter(
    lambda word: word.split() == [word] and word[0] != "\ufeff"  # at the beginning of a file it is a mark of UTF-8
)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(words, st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6), st.sampled_from(FORMS)
)
def test_any_words_and_numbers_come_back(tmp_path_factory, rows, form):
    path = tmp_path_factory.mktemp("words") / "vectors"
    ours = VectorTable(list(rows), np.array(list(rows.values()), np.float32))
    write_word_vectors(path, ours, form)
    found = read_word_vectors(path)
    assert found.words == ours.words
    assert np.array_equal(found.vectors, ours.vectors)


def test_the_first_rows_are_enough(tmp_path):
    for form in FORMS:
        write_word_vectors(tmp_path / form, table(), form)
        assert read_word_vectors(tmp_path / form, first=2).words == NASTY[:2]


def test_a_word_of_glove_may_hold_spaces(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2 3\n. . . 4 5 6\nof 7 8 9\n")
    assert read_word_vectors(path).words == ["the", ". . .", "of"]


def test_rows_that_cannot_be_used_are_told(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(b"the 1 2\nthe 3 4\n\xff\xfe 5 6\nof 7 8\n")
    told = []

    class Told:
        def warn(self, message):
            told.append(message)

    assert read_word_vectors(path, progress=Told()).words == ["the", "of"]
    assert told == [f"{path}: 2 rows are left out, whose words came twice, are empty or not UTF-8."]


@pytest.mark.parametrize("head", ["", "2 2\n"])
def test_a_mark_of_utf_8_is_no_part_of_the_file(tmp_path, head):
    path = tmp_path / "v.txt"
    path.write_text(f"{head}the 1 2\nof 3 4\n", encoding="utf-8-sig")
    assert read_word_vectors(path).words == ["the", "of"]


def test_more_rows_than_the_header_says_are_told(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("2 2\nthe 1 2\nof 3 4\nto 5 6\n")
    told = []

    class Told:
        def warn(self, message):
            told.append(message)

    assert read_word_vectors(path, progress=Told()).words == ["the", "of"]
    assert told == [
        f"{path}: its header states 2 words, but more follow, which are left out; write the right number there."
    ]
    assert read_word_vectors(path, first=1, progress=Told()).words == ["the"]
    assert len(told) == 1


def test_white_space_inside_words_is_written_as_a_line(tmp_path):
    told = []

    class Told:
        def warn(self, message):
            told.append(message)

    ours = table(["New York", "the", "New_York", "1\u00a02"])
    found = underscored(ours, Told())
    assert found.words == ["New_York", "the", "1_2"]
    assert np.array_equal(found.vectors, ours.vectors[[0, 1, 3]])
    assert told == [
        "2 words contain white space, the column separator of such files; it is written as _; 1 of them is left "
        "out: the word exists already."
    ]
    assert underscored(found, Told()) is found and len(told) == 1


def test_the_binary_of_word2vec_itself_is_read(tmp_path):
    """The C program puts a line feed behind each vector; others put none."""
    rows = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    for feed in (b"", b"\n"):
        body = b"".join(word.encode() + b" " + np.array(row, "<f4").tobytes() + feed for word, row in rows.items())
        (tmp_path / "v.bin").write_bytes(b"2 2\n" + body)
        assert read_word_vectors(tmp_path / "v.bin").vectors.tolist() == list(rows.values())


@pytest.mark.parametrize(
    "contents, words",
    [
        (b"", "there are no vectors in it"),
        (b"\n\n", "there are no vectors in it"),
        (b"hello\n", "line 1 has no numbers after its word"),
        (b"the 1 2\nof 1 x\n", 'line 2 holds "x" where a number is expected'),
        (b"the 1 2\nof 1 2\nto 1\n", "line 3 has 1 numbers, but 2 are expected"),
        (b"3 2\nthe 1 2\nof 1 2\n", "it ends after 2 of 3 words"),
        (b"2 2\nthe \x01\x02\x03\x84\x01", "it ends inside word 1 of 2"),
        (b"2 0\nthe \n", "vectors of 0 dimensions"),
        (b"the 1 2\nof 1 2 3\nto 1 2\n", "line 2 has 3 numbers, but 2 are expected"),
        (b"2 1\nthe 1 2\nof 1 2\n", "line 2 has 2 numbers, but 1 are expected"),
        (b"2 2\nthe 1,5 2\nof 1 2\n", 'line 2 holds "1,5" where a number is expected'),
        (b"the \x1b[31m 2\nof 1 2\n", 'line 1 holds "?[31m" where a number is expected'),
        (b"\x00\xc3\x28\x9f\x8d" * 30, "this is neither text nor word2vec's binary format"),
        (b"the 1 nan\n", "not finite"),
        (gzip.compress(b"the 1 2\n" * 99, mtime=0)[:-20], "the gzip data is damaged"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path, contents, words):
    path = tmp_path / "v.txt"
    path.write_bytes(contents)
    with pytest.raises(DataError) as found:
        read_word_vectors(path)
    assert words in str(found.value) and str(found.value).startswith(str(path))


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_word_vectors(tmp_path / "none.txt")


def test_white_space_in_a_word_is_refused(tmp_path):
    with pytest.raises(DataError, match='"New York" contains white space'):
        write_word_vectors(tmp_path / "v", table(["New York"]), "word2vec-binary")
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("head", ["1000000000 1000000000", "3 0", "5 70000", "2 999999999999999999"])
def test_a_header_that_says_too_much_is_refused(tmp_path, head):
    path = tmp_path / "vectors"
    path.write_bytes(f"{head}\nthe ".encode() + bytes(4000))
    with pytest.raises(
        DataError, match=r"its header states vectors of [\d,]+ dimensions, so it is damaged or not a word2vec f"
    ):
        read_word_vectors(path)


def test_a_header_that_says_more_words_than_there_are_takes_no_memory(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("999999999999 2\nthe 1 2\n")
    with pytest.raises(DataError, match=r"it ends after 1 of 999,999,999,999 words, so it is incomplete"):
        read_word_vectors(path)
    path.write_text(f"{'9' * 5000} 2\n")
    assert read_word_vectors(path).words == ["9" * 5000]


def test_endless_lines_and_packed_nothing_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_MAX_LINE_BYTES", "1000")
    monkeypatch.setenv("REGARD_MAX_TEXT_BYTES", "100K")
    path = tmp_path / "vectors.txt"
    path.write_text(f"the 1 2\nof {'1' * 2000} 2\n")
    with pytest.raises(DataError, match=r"line 2 is longer than 1e\+03 bytes|line 2 is longer than 1000 bytes"):
        read_word_vectors(path)
    bomb = tmp_path / "vectors.gz"
    bomb.write_bytes(gzip.compress(b"the 1 2\n" * 100_000))
    with pytest.raises(
        DataError, match=r"it decompresses to more than 100 KiB, over 100 times its own size, which no text"
    ):
        read_word_vectors(bomb)


def test_a_blank_line_ends_nothing_and_long_digits_are_numbers(tmp_path):
    path = tmp_path / "vectors.txt"
    rows = [f"w{number} 1 2" for number in range(5000)]
    path.write_text("\n".join([*rows[:10], "", *rows[10:], f"last {'1' * 70} 0.{'3' * 90}"]) + "\n")
    with pytest.raises(DataError, match="some of its numbers are not finite"):
        read_word_vectors(path)
    path.write_text("\n".join([*rows[:10], "", *rows[10:], f"last 1 0.{'3' * 90}"]) + "\n")
    found = read_word_vectors(path)
    assert len(found.words) == 5001 and found.vectors[-1].tolist() == [1.0, np.float32(1 / 3)]

"""Sentences are told apart in any language, and their marks are all that is added to a text."""

import pytest

from regard import miniature
from regard.data.corpus.sentences import LONGEST, SentenceEncoder, split_sentences
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import DocumentSource
from regard.data.sources.documents import DocumentChunk
from regard.text.settings import MaskedTextSettings
from regard.text.training import train_tokenizer

STORIES = list(miniature.documents("train", 60))


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(STORIES, MaskedTextSettings(size=400))


@pytest.mark.parametrize(
    "text, count",
    [
        ("First. Second! Third? Fourth", 4),
        ("Mr. Smith met Mrs. Doe there. They left.", 2),
        ("J. K. wrote it in the U.S. army. Then she slept.", 2),
        ("Am 3. Mai 1990. Danach kam er.", 2),
        ('"Go away." He went. "Why?" she asked.', 3),
        ("He waited ... and waited. (It rained.) Then it stopped.", 3),
        ("It costs 3.50 now. See www.example.org for more.", 2),
        ("A title\n\nThe text begins. It ends.", 3),
        ("a line that\nis wrapped. The next.", 2),
        ("你好。再见！好吗？", 3),
        ("یہ پہلا ہے۔ یہ دوسرا ہے۔", 2),
        ("यह पहला है। यह दूसरा है।", 2),
        ("Τι κάνεις; Καλά. Ναι.", 2),
        ("no end", 1),
        ("", 0),
    ],
)
def test_sentences_of_many_languages(text, count):
    found = list(split_sentences(text))
    assert len(found) == count and "".join(found) == text


def test_marks_stand_behind_sentences_and_nothing_is_lost(tokenizer):
    encoder = SentenceEncoder(tokenizer, "marks")
    plain = tokenizer.encode_batch(STORIES)
    marked = encoder([DocumentChunk(text, True, 0) for text in STORIES])
    for text, ids, row in zip(STORIES, plain, marked, strict=True):
        assert [each for each in row if each != tokenizer.pad_id] == [*ids, tokenizer.eos_id]
        assert row.count(tokenizer.pad_id) == len(list(split_sentences(text))) - 1


def test_a_piece_that_stops_within_a_sentence_has_no_mark_behind_it(tokenizer):
    encoder = SentenceEncoder(tokenizer, "marks")
    halves, whole = encoder([DocumentChunk("Peter went to the", False, 0), DocumentChunk("Peter went.", False, 0)])
    assert tokenizer.pad_id not in halves and whole[-1] == tokenizer.pad_id
    lines = SentenceEncoder(tokenizer, "lines")(
        [DocumentChunk("Peter. Eva went\nto a city\n", False, 0), DocumentChunk("Eva", True, 0)]
    )
    assert lines[0].count(tokenizer.pad_id) == 2 and lines[1][-1] == tokenizer.eos_id


def test_a_text_without_full_stops_is_cut_into_parts(tokenizer):
    (row,) = SentenceEncoder(tokenizer, "marks")([DocumentChunk("the city and " * 150, True, 0)])
    sizes, size = [], 0
    for each in row:
        if each in (tokenizer.pad_id, tokenizer.eos_id):
            sizes.append(size)
            size = 0
        else:
            size += 1
    assert len(sizes) > 2 and max(sizes) <= LONGEST and max(sizes) - min(sizes) <= 1


def test_shards_know_how_they_were_read(tokenizer, tmp_path):
    place = DocumentSource(paths=("miniature:train",), max_rows=20)
    marked = tokenize(place, tokenizer, tmp_path, sentences="marks")
    lines = tokenize(place, tokenizer, tmp_path, sentences="lines")
    plain = tokenize(place, tokenizer, tmp_path)
    assert len(plain) < len(lines) < len(marked)  # a title has a line of its own
    assert len({each.fingerprint for each in (marked, lines, plain)}) == 3

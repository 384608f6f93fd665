"""Windows of spelled words."""

import numpy as np
import pytest

from regard.data.feeds.char_words import CharWordFeed, WordLookup, count_words, fixed_words
from regard.data.feeds.sampler import Position
from regard.data.feeds.windows import IdStream
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer

TOKENIZER = spelling_tokenizer()
TEXT = "The cat saw the dog. The naïve dog, 東京 and all, saw nothing; the cat slept."
WORDS = TEXT.replace(".", " .").replace(",", " ,").replace(";", " ;").split()


def stream(*texts):
    return IdStream(
        np.array([number for text in texts for number in [*TOKENIZER.encode(text).ids, TOKENIZER.eos_id]])
    )


def test_words_are_counted_and_numbered_as_they_are_spelled():
    known = count_words(stream(TEXT, TEXT), 6, 2, 20)
    assert known[:3] == [",", ".", "The"] and len(known) == 6  # four times each, by their spelling
    words = word_tokenizer(count_words(stream(TEXT), 100, 1, 20))
    assert set(words.vocabulary.values()) == set(WORDS)
    first, numbers = WordLookup(words, 20)(stream(TEXT).ids)
    assert words.tokens(numbers) == [*WORDS, "</s>"]
    assert [TOKENIZER.tokens([stream(TEXT).ids[place]])[0] for place in first] == ["Ġ"] * len(WORDS) + ["</s>"]


def test_a_word_that_is_unknown_or_too_long_is_called_so():
    words = word_tokenizer(["cat", "internationa"])
    _, numbers = WordLookup(words, 13)(stream("cat cats internationalisation").ids)
    assert words.tokens(numbers) == ["cat", "<unk>", "<unk>", "</s>"]


@pytest.mark.parametrize("length, limit", [(20, 1000), (33, 70)])
def test_every_word_is_in_one_window_of_an_epoch_with_all_its_letters(length, limit):
    whole = stream(*[TEXT] * 5)
    words = word_tokenizer(sorted(set(WORDS)))
    book = WordLookup(words, 20)
    found = []
    for batch in fixed_words(whole, book, length, limit):
        rows = [row[row >= 0].tolist() for row in batch.words]
        for begin, end, row in zip(batch.cu_seqlens[:-1], batch.cu_seqlens[1:], rows, strict=True):
            assert words.tokens(row) == words.tokens(book(batch.tokens[begin:end].numpy())[1])
            found += words.tokens(row)
        assert batch.label_count == sum(len(row) - 1 for row in rows)
    assert found == [*WORDS, "</s>"] * 5


def test_a_word_longer_than_a_window_is_unknown_and_nothing_breaks():
    words = word_tokenizer(["a"])
    batches = list(fixed_words(stream("a " + "x" * 90 + " a"), WordLookup(words, 20), 16, 64))
    assert sum(int((batch.words == words.unk_id).sum()) for batch in batches) >= 1


def test_a_position_finds_the_same_updates_again():
    words = word_tokenizer(sorted(set(WORDS)))
    feed = lambda: CharWordFeed(stream(*[TEXT] * 20), WordLookup(words, 20), 24, 120, 60, seed=3)
    updates = feed().updates(Position())
    some = [next(updates) for _ in range(feed().updates_in(0) + 2)]
    again = next(feed().updates(some[4].following))
    for one, other in zip(some[5].micro_batches, again.micro_batches, strict=True):
        assert one.tokens.equal(other.tokens) and one.words.equal(other.words)

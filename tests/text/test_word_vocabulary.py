from collections import Counter

import numpy as np
import pytest

from regard.text.settings import WordSettings
from regard.text.tokenizer import END_OF_TEXT
from regard.text.word_vocabulary import (
    WordCounter,
    find_phrases,
    join_phrases,
    neighbors_of,
    splitter,
    table_tokenizer,
)


@pytest.mark.parametrize(
    "text, words",
    [
        ("The _cat's_ well-known -- hat.", ["the", "cat's", "well-known", "hat"]),
        ("don’t stop", ["don't", "stop"]),
        ("naïve e\u0301tude", ["naïve", "étude"]),
        ("हिन्दी ভাষা", ["हिन्दी", "ভাষা"]),
        ("日本語 3.14 new_york", ["日本語", "3", "14", "new_york"]),
        ("\u200b…—🦊!", []),
        ("", []),
    ],
)
def test_words_are_letters_with_their_marks(text, words):
    assert splitter(WordSettings())(text) == words


def test_words_may_be_what_white_space_parts():
    split = splitter(WordSettings(split="spaces", lowercase=False))
    assert split(" Mr. \u00a0X\u3000,y \n") == ["Mr.", "X", ",y"]


def test_words_of_any_text_come_back_from_the_tokenizer():
    words = splitter(WordSettings(split="spaces"))("a \U0001f98a ß \x1c b ２ \u2028 c")
    tokenizer = table_tokenizer(dict.fromkeys(words))
    assert tokenizer.eos_id == len(words) and tokenizer.tokens(range(len(words))) == words
    assert tokenizer.encode(" ".join(words)).ids == list(range(len(words)))


def test_counting_forgets_the_rarest_and_says_so():
    generator = np.random.default_rng(0)
    drawn = [f"w{number}" for number in generator.zipf(1.3, 200_000) if number < 10**6]
    truth = Counter(drawn)
    counter = WordCounter(limit=2000)
    for begin in range(0, len(drawn), 500):
        counter.add(drawn[begin : begin + 500])
        assert len(counter.counts) <= 2000
    assert counter.floor > 0 and counter.total == len(drawn)
    assert all(count <= truth[word] for word, count in counter.counts.items())
    for word, count in truth.most_common(100):
        assert counter.counts[word] == count  # what is frequent is never in danger


def test_the_most_frequent_come_first_and_equals_in_order():
    counter = WordCounter(100)
    counter.add(["b", "a", "c", "a", "b", END_OF_TEXT, END_OF_TEXT])
    assert list(counter.frequent(1, None).items()) == [("a", 2), ("b", 2), ("c", 1)]
    assert list(counter.frequent(2, None)) == ["a", "b"]
    assert list(counter.frequent(1, 1)) == ["a"]


def test_pairs_that_stand_together_oftener_than_by_chance_are_phrases():
    generator = np.random.default_rng(1)
    words = [["new", "york"] if draw < 0.05 else [f"w{int(draw * 300)}"] for draw in generator.random(20_000)]
    flat = [word for part in words for word in part]
    singles, pairs = WordCounter(10**6), WordCounter(10**6)
    singles.add(flat)
    pairs.add(list(neighbors_of(flat)))
    assert find_phrases(singles, pairs, WordSettings(phrase_threshold=10.0)) == {"new_york"}


def test_phrases_are_joined_from_left_to_right():
    known = {"new_york", "york_city", "new_york_times"}.__contains__
    assert join_phrases(["in", "new", "york", "city"], known, 1) == ["in", "new_york", "city"]
    assert join_phrases(["new", "york", "times", "new"], known, 2) == ["new_york_times", "new"]
    assert join_phrases([], known, 2) == []

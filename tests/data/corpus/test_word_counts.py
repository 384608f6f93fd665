"""Words of running text, counted for a vocabulary and encoded as ids."""

from collections import Counter

import pytest

from labeled import Telling
from regard.data.corpus.word_counts import WordEncoder, count_words
from regard.data.settings.text import TextSource
from regard.data.sources.documents import DocumentChunk
from regard.errors import DataError
from regard.text.settings import WordSettings
from regard.text.word_vocabulary import table_tokenizer

DOCUMENTS = ("The cat saw the dog.", "A dog saw the cat!", "The end")


def source(tmp_path, *documents, **settings):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(documents) + "\n", encoding="utf-8")
    return TextSource(paths=(str(path),), documents="lines", **settings)


def test_counts_are_those_of_a_counter_the_most_frequent_first(tmp_path):
    counts = count_words(source(tmp_path, *DOCUMENTS), WordSettings(min_count=2))
    words = Counter(" ".join(DOCUMENTS).lower().replace(".", "").replace("!", "").split())
    assert counts.counts == {word: count for word, count in words.items() if count >= 2}
    assert list(counts.counts) == ["the", "cat", "dog", "saw"]
    assert counts.total == words.total() and counts.pruned_below == 0


def test_only_the_first_documents_are_counted(tmp_path):
    settings = WordSettings(min_count=1)
    some = count_words(source(tmp_path, *DOCUMENTS, max_rows=2), settings)
    assert some.counts == count_words(source(tmp_path, *DOCUMENTS[:2]), settings).counts
    assert "end" not in some.counts and some.total == 10


def test_each_phrase_pass_joins_longer_phrases(tmp_path):
    rare = [f"filler{number} other{number}" for number in range(50)]
    text = source(tmp_path, *["we saw new york city today"] * 5, *["new hats", "york ham", "city bus"] * 2, *rare)
    vocabularies = [
        count_words(text, WordSettings(min_count=2, phrases=passes, phrase_threshold=2.0)).counts
        for passes in range(3)
    ]
    assert not any("_" in word for word in vocabularies[0])
    assert "new_york" in vocabularies[1] and "new_york_city" not in vocabularies[1]
    assert vocabularies[1]["new_york"] == 5 and any(word.count("_") >= 2 for word in vocabularies[2])


def test_pruned_words_are_reported(tmp_path):
    telling = Telling()
    place = source(tmp_path, *["often so often"] * 5, " ".join(f"w{number}" for number in range(1100)))
    counts = count_words(place, WordSettings(min_count=1, max_counted_words=1000), telling)
    assert counts.counts == {"often": 10, "so": 5} and counts.pruned_below == 1
    assert counts.total == 1115
    assert telling.warned == [
        f"{place.name}: it has more than 1,000 different words, so those seen 1 times or less were pruned "
        f"(text.max_counted_words)."
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("...", "there is no text in it (empty or only white space); name files with text."),
        ("hi hi hi", 'it has only one word, "hi", which has no context words to learn from; add text.'),
        (
            "a a a b",
            "1 of its 2 different words occur 3 times or more (the most frequent 3 times), too few for a vocabulary; "
            "lower text.min_count, or add text.",
        ),
    ],
)
def test_a_text_without_a_vocabulary_is_refused(tmp_path, text, sentence):
    place = source(tmp_path, text)
    with pytest.raises(DataError) as caught:
        count_words(place, WordSettings(min_count=3))
    assert str(caught.value) == f"{place.name}: {sentence}"


def test_unknown_words_are_left_out_and_documents_end_with_eos():
    tokenizer = table_tokenizer(["the", "new_york", "dog"])
    encode = WordEncoder(tokenizer, WordSettings(phrases=1))
    chunks = [DocumentChunk("The dog of", False, 0), DocumentChunk("New York, unknown", True, 0)]
    ids = {word: number for number, word in tokenizer.vocabulary.items()}
    assert encode(chunks) == [[ids["the"], ids["dog"]], [ids["new_york"], tokenizer.eos_id]]
    assert encode.words("New York dog") == ["new_york", "dog"]


def test_shards_are_not_reused_with_other_word_settings():
    tokenizer = table_tokenizer(["a", "b"])
    settings = [WordSettings(), WordSettings(lowercase=False), WordSettings(split="spaces"), WordSettings(phrases=2)]
    kinds = [WordEncoder(tokenizer, each).reading for each in settings]
    assert all(first != second for number, first in enumerate(kinds) for second in kinds[:number])
    assert WordEncoder(tokenizer, WordSettings(min_count=9)).reading == kinds[0]

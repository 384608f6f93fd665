import pytest

from regard import miniature
from regard.errors import DataError
from regard.text.bpe_merges import merges_of
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


@pytest.fixture(scope="module")
def texts():
    return [pair.source for pair in miniature.pairs("train", 300)]


@pytest.mark.parametrize("pretokenizer", ["metaspace", "byte-level"])
def test_merges_one_by_one_give_the_tokens_of_the_library(texts, pretokenizer):
    tokenizer = train_tokenizer(texts, TokenizerSettings(size=500, pretokenizer=pretokenizer))
    for text in (*texts[:20], "Gesundheitsinstitute"):
        words = merges_of(tokenizer, text)
        tokens = [token for word in words for token in word.tokens]
        assert tokens == tokenizer.encode(text).tokens
        for word in words:
            before = word.characters
            for step in word.steps:
                assert len(step.tokens) == len(before) - 1 and step.left + step.right in step.tokens
                before = step.tokens


def test_a_tokenizer_without_merges_is_refused(texts):
    tokenizer = train_tokenizer(texts, TokenizerSettings(kind="word", size=300))
    with pytest.raises(DataError, match="of the kind WordLevel, which has no merges; choose one with BPE"):
        merges_of(tokenizer, "Hund")

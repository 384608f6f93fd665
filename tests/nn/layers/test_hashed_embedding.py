"""Vectors of words that are found by their letters."""

import itertools

import torch

from regard.nn.layers.hashed_embedding import HashedEmbedding
from regard.text.char_tokenizer import spelling_tokenizer

SPELL = spelling_tokenizer()


def spelled(words):
    """Return the tokens of words end to end, and which word each is of."""
    ids = [SPELL.encode(word).ids for word in words]
    sizes = torch.tensor([len(each) for each in ids])
    return torch.tensor([number for each in ids for number in each]), torch.arange(len(ids)).repeat_interleave(sizes)


def table_of(words, vectors):
    table = HashedEmbedding(len(words), vectors.size(1))
    tokens, word = spelled(words)
    table.fill(table.spelled(tokens, word, len(words)), vectors)
    return table


def test_a_word_has_its_vector_wherever_it_stands_and_any_other_has_zeros():
    vectors = torch.randn(3, 4)
    table = table_of(["good", "bad", "façade"], vectors)
    tokens, word = spelled(["bad", "unheard", "façade", "goo", "good", "bad", "goods", "dab"])
    found = table(tokens, word, 8)
    none = torch.zeros(4)
    expected = [vectors[1], none, vectors[2], none, vectors[0], vectors[1], none, none]
    torch.testing.assert_close(found, torch.stack(expected), rtol=0, atol=0)


def test_places_without_a_word_have_zeros():
    vectors = torch.randn(1, 2)
    tokens, _ = spelled(["good", "good"])
    found = table_of(["good"], vectors)(tokens, torch.tensor([0] * 5 + [3] * 5), 5)
    torch.testing.assert_close(found[[0, 3]], vectors.expand(2, 2), rtol=0, atol=0)
    assert not found[[1, 2, 4]].any()


def test_many_short_words_are_told_apart():
    words = ["".join(letters) for size in (1, 2, 3) for letters in itertools.product("abcdefghijklmno", repeat=size)]
    tokens, word = spelled(words)
    keys = HashedEmbedding(1, 1).spelled(tokens, word, len(words))
    assert keys.unique().numel() == len(words) == 15 + 15**2 + 15**3


def test_the_zeros_stay_zeros_while_vectors_are_tuned():
    table = table_of(["good"], torch.ones(1, 2))
    tokens, word = spelled(["good", "unheard"])
    table(tokens, word, 2).sum().backward()
    gradient = table.table.weight.grad
    assert gradient is not None and gradient[1].tolist() == [1, 1] and not gradient[0].any()

"""Ragged sequences of ids: the same as a list of lists."""

import numpy as np
import pytest

from regard.data.encoding.sequences import CHUNK, Sequences, encode
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

LISTS = [[5, 6, 7], [], [8], [9, 10]]


def lists_of(sequences):
    return [sequences[row].tolist() for row in range(len(sequences))]


def test_lists_come_back_as_they_were():
    sequences = Sequences.of(LISTS)
    assert lists_of(sequences) == LISTS and sequences.lengths.tolist() == [3, 0, 1, 2]
    assert len(Sequences.of([])) == 0 and lists_of(Sequences.of([])) == []


@pytest.mark.parametrize("rows", [[], [3, 0], [1], [2, 2, 1, 0]])
def test_a_selection_keeps_the_order_given(rows):
    assert lists_of(Sequences.of(LISTS).select(np.array(rows, np.int64))) == [LISTS[row] for row in rows]


def test_sequences_follow_each_other():
    for cut in range(len(LISTS) + 1):
        joined = Sequences.of(LISTS[:cut]).followed_by(Sequences.of(LISTS[cut:]))
        assert lists_of(joined) == LISTS


@pytest.mark.parametrize("rows", [[0, 2], [3, 1, 0], [2], [1]])
def test_padding_is_on_the_right_and_masked(rows):
    tokens, token_mask = Sequences.of(LISTS).padded(np.array(rows), 0)
    longest = max(len(LISTS[row]) for row in rows)
    assert tokens.tolist() == [LISTS[row] + [0] * (longest - len(LISTS[row])) for row in rows]
    assert token_mask.sum(1).tolist() == [len(LISTS[row]) for row in rows]
    assert [row[mask].tolist() for row, mask in zip(tokens, token_mask, strict=True)] == [LISTS[row] for row in rows]


def test_every_text_ends_with_eos_across_chunks():
    texts = ["a b", "b", "", "a a a"]
    tokenizer = train_tokenizer(texts, TokenizerSettings(size=300, min_frequency=1))
    many = texts * (CHUNK // len(texts)) + ["b a"]
    sequences = encode(many, tokenizer)
    assert len(sequences) == len(many) > CHUNK
    for row in (0, 1, 2, 3, CHUNK - 1, CHUNK):
        assert sequences[row].tolist() == [*tokenizer.encode_batch([many[row]])[0], tokenizer.eos_id]

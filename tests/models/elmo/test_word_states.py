"""Padded word states, against loops over sequences."""

import torch
from torch.testing import assert_close

from regard.models.elmo.word_states import WordRows, in_rows

LENGTHS = [3, 1, 4]
HIDDEN = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))
OFFSETS = torch.tensor([0, 3, 4, 8], dtype=torch.int32)


def test_concatenated_sequences_become_rows_and_come_back():
    rows = in_rows(HIDDEN, OFFSETS)
    assert rows.token_mask.sum(1).tolist() == LENGTHS and rows.states.shape == (3, 4, 5)
    for row, part in enumerate(HIDDEN.split(LENGTHS)):
        assert_close(rows.states[row, : len(part)], part)
    assert_close(rows.by_token(), HIDDEN)


def test_pooling_ignores_padding():
    rows = in_rows(HIDDEN, OFFSETS)
    noisy = rows.of(torch.where(rows.token_mask[:, :, None], rows.states, 100.0))
    parts = HIDDEN.split(LENGTHS)
    assert_close(noisy.pooled("mean"), torch.stack([part.mean(0) for part in parts]))
    assert_close(noisy.pooled("max"), torch.stack([part.amax(0) for part in parts]))


def test_a_row_of_padding_alone_stays_finite():
    rows = WordRows(torch.zeros(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool), torch.zeros(0, dtype=torch.long))
    assert rows.pooled("mean").isfinite().all() and rows.pooled("max").isfinite().all()


def test_all_tokens_of_a_word_have_its_state():
    rows = WordRows(torch.randn(1, 2, 3), torch.ones(1, 2, dtype=torch.bool), torch.tensor([0, 0, 1, 1, 1]))
    assert_close(rows.by_token(), rows.states[0][[0, 0, 1, 1, 1]])

"""The new tokens of a search's rows."""

import numpy as np
import pytest

from regard.decoding.logits.history import FEWEST, History
from regard.decoding.steppers.interface import Request


def test_rows_keep_their_tokens_while_others_come_and_go():
    history = History(3, has_prompts=True)
    texts = {}
    for step in range(5 * FEWEST):
        if step % 7 == 0:
            history.admit([Request([step], 99)], 1)
            texts[step] = []
        ids = np.arange(len(history.lengths)) + step
        history.append(ids, -ids / 4)
        for row, key in enumerate(texts):
            texts[key].append(int(ids[row]))
        if step % 11 == 0 and len(texts) > 1:  # the longest leaves
            del texts[next(iter(texts))]
            history.select(np.arange(1, len(history.lengths)), range(1, len(history.lengths)))
        for row, (key, expected) in enumerate(texts.items()):
            assert history.request(row).ids == [key] and history.ids(row) == expected
            assert history.log_probabilities(row) == [-token / 4 for token in expected]
    assert history.longest == len(next(iter(texts.values())))


def test_branches_of_a_request_share_its_past():
    history = History(3, has_prompts=False)
    history.admit([Request([7], 9), Request([8], 9)], 4)
    history.append(np.array([4, 5, 6, 7]), np.zeros(4))
    history.select(np.array([1, 1, 2, 3]))
    history.append(np.array([8, 9, 8, 9]), np.zeros(4))
    assert [history.ids(row) for row in range(4)] == [[5, 8], [5, 9], [6, 8], [7, 9]]
    assert [history.request(row).ids for row in range(4)] == [[7], [7], [8], [8]]


@pytest.mark.parametrize("has_prompts", [True, False])
def test_pasts_come_by_length_without_eos(has_prompts):
    history = History(3, has_prompts)
    history.admit([Request([3, 9], 9)], 1)
    history.append(np.array([5]), np.zeros(1))
    history.admit([Request([3], 9)], 1)
    history.append(np.array([6, 7]), np.zeros(2))
    pasts = {int(row): past.tolist() for rows, pasts in history.same_length() for row, past in zip(rows, pasts)}
    assert pasts == ({0: [9, 5, 6], 1: [7]} if has_prompts else {0: [5, 6], 1: [7]})

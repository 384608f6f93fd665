import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.decoding.logits.counter_uniforms import counter_uniforms, sample_tokens
from regard.decoding.logits.filters import (
    allow_only,
    forbid_repeated_ngrams,
    keep_top_k,
    keep_top_p,
    penalize_repetition,
)

INF = torch.inf


def rows(*values):
    return torch.tensor(values).log()


def allowed(log_p):
    return [torch.isfinite(row).nonzero().flatten().tolist() for row in log_p]


def test_top_k_keeps_so_many_and_changes_nothing_else():
    log_p = rows([0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.05, 0.15])
    kept = keep_top_k(log_p, 2)
    assert allowed(kept) == [[1, 3], [0, 3]]
    assert_close(kept[torch.isfinite(kept)], log_p[torch.isfinite(kept)])
    assert keep_top_k(log_p, 9) is log_p


@pytest.mark.parametrize(
    "share, expected",
    [(0.05, [1]), (0.4, [1]), (0.41, [1, 3]), (0.7, [1, 3]), (0.95, [0, 1, 2, 3]), (1.0, [0, 1, 2, 3])],
)
def test_top_p_keeps_the_fewest_tokens_that_hold_the_share(share, expected):
    assert allowed(keep_top_p(rows([0.1, 0.4, 0.2, 0.3]), share)) == [expected]


def test_top_p_is_a_share_of_what_is_allowed():
    log_p = rows([0.1, 0.4, 0.2, 0.3])
    log_p[0, 1] = -INF  # 0.6 is left: half of that is held by token 3
    assert allowed(keep_top_p(log_p, 0.49)) == [[3]]


def test_a_penalty_makes_what_was_said_less_probable_once():
    log_p = rows([0.5, 0.25, 0.25])
    found = penalize_repetition(log_p, torch.tensor([[0, 0, 2]]), 2.0)
    assert_close(found, torch.stack([log_p[0, 0] * 2, log_p[0, 1], log_p[0, 2] * 2])[None])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_ngram_can_come_twice(size):
    past = torch.tensor([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4], [0, 1, 2, 3, 4]])
    found = forbid_repeated_ngrams(torch.zeros(3, 6), past, size)
    for row, said in enumerate(past.tolist()):
        seen = {tuple(said[place : place + size]) for place in range(len(said) - size + 1)}
        expected = [token for token in range(6) if tuple([*said, token][-size:]) not in seen]
        assert allowed(found)[row] == expected
    assert forbid_repeated_ngrams(found, past[:, :0], size) is found


def test_only_some_tokens_are_allowed():
    assert allowed(allow_only(torch.zeros(2, 5), torch.tensor([3, 1]))) == [[1, 3], [1, 3]]


def test_draws_follow_the_probabilities():
    count = 40_000
    chances = counter_uniforms(7, np.arange(count), np.zeros(count, np.int64), 3)
    assert chances.min() >= 0 and chances.max() < 1
    log_p = rows([0.5, 0.0, 0.2, 0.3]).expand(count, -1)
    share = torch.bincount(sample_tokens(log_p, torch.from_numpy(chances)), minlength=4) / count
    assert_close(share, torch.tensor([0.5, 0.0, 0.2, 0.3]), atol=0.01, rtol=0)


def test_a_draw_depends_on_all_that_it_is_for():
    lines, samples = np.array([5, 6, 5]), np.array([0, 0, 1])
    base = counter_uniforms(1, lines, samples, 0)
    assert len(set(base)) == 3
    assert not set(base) & set(counter_uniforms(2, lines, samples, 0)) and not set(base) & set(
        counter_uniforms(1, lines, samples, 1)
    )
    assert counter_uniforms(1, lines[1:2], samples[1:2], 0)[0] == base[1]
    steps = np.stack([counter_uniforms(1, np.arange(1000), np.zeros(1000, np.int64), step) for step in range(2)])
    assert abs(np.corrcoef(steps)[0, 1]) < 0.1


def test_the_least_and_the_greatest_chance_hit_a_possible_token():
    log_p = rows([0.0, 0.5, 0.5, 0.0])
    chances = torch.tensor([0.0, 1 - 2.0**-53], dtype=torch.float64)
    assert sample_tokens(log_p.expand(2, -1), chances).tolist() == [1, 2]

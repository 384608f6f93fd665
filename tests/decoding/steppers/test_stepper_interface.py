"""What all steppers share: hypotheses, padded requests, mean probabilities."""

import pytest
import torch
from torch.testing import assert_close

from regard.decoding.steppers.interface import Hypothesis, Request, mean_log_probability, padded


@pytest.mark.parametrize("is_left, expected", [(False, [[4, 5, 6], [7, 0, 0]]), (True, [[4, 5, 6], [0, 0, 7]])])
def test_requests_are_padded_on_one_side(is_left, expected):
    tokens, token_mask = padded([Request([4, 5, 6], 9), Request([7], 9)], 0, torch.device("cpu"), is_left)
    assert tokens.tolist() == expected and torch.equal(token_mask, tokens > 0)


def test_the_log_probability_is_the_sum_over_tokens():
    assert Hypothesis([5], [-0.5, -0.25], -1.0, "eos").log_probability == -0.75


def test_the_mean_of_one_model_is_its_own_log_probability():
    logits = torch.randn(3, 7)
    assert_close(mean_log_probability([logits]), logits.log_softmax(-1))

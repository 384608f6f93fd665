import math

import numpy as np
import pytest
import torch

from regard.objectives.word2vec import keep_probabilities, negative_sampling_loss, noise_bounds, sample_negatives

COUNTS = np.array([1000, 400, 100, 90, 10, 9, 1], np.int64)


@pytest.mark.parametrize("smoothing", [0.75, 1.0, 0.0])
def test_negatives_follow_the_smoothed_counts(smoothing):
    weights = COUNTS**smoothing
    bounds = noise_bounds(torch.from_numpy(COUNTS), smoothing)
    assert bounds[-1] == 1 and (bounds.diff() > 0).all()
    samples = sample_negatives(bounds, (100, 2000), torch.Generator().manual_seed(1))
    assert samples.shape == (100, 2000)
    frequencies = np.bincount(samples.numpy().ravel(), minlength=len(COUNTS)) / 200_000
    assert np.abs(frequencies - weights / weights.sum()).max() < 5 * math.sqrt(0.25 / 200_000)


def test_subsampling_drops_more_of_the_more_frequent_words():
    shares = keep_probabilities(torch.from_numpy(COUNTS), 1e-2)
    assert (shares.diff() >= 0).all() and shares[-1] == 1
    frequency = 1000 / COUNTS.sum()
    assert shares[0].item() == pytest.approx((math.sqrt(frequency / 1e-2) + 1) * 1e-2 / frequency)
    assert (keep_probabilities(torch.from_numpy(COUNTS), 0) == 1).all()


def test_the_loss_is_minus_log_sigmoid_of_positives_and_of_negated_negatives():
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 9.0]])
    is_positive = torch.tensor([[True, False, False], [True, False, False]])
    counts = torch.tensor([[1, 1, 1], [1, 1, 0]])  # the last negative is ignored
    sigmoid = lambda x: 1 / (1 + math.exp(-x))
    expected = -sum(math.log(sigmoid(x)) for x in (2.0, 1.0, -0.5, 0.0, -3.0))
    assert negative_sampling_loss(logits, is_positive, counts).item() == pytest.approx(expected, rel=1e-5)

"""Log probabilities of pairs: those of each pair alone, in their order, however they are batched."""

import pytest
import torch

from regard.tasks.translate.scoring import pair_log_probabilities
from small import ENDS, log_probability, random_pairs, small_transformer

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def pairs():
    return random_pairs(12)


def test_each_pair_has_the_log_probability_of_one_forward_pass(pairs):
    model = small_transformer()
    values = pair_log_probabilities([model], pairs, CPU, 10_000)
    for row, tokens in enumerate(values):
        source, target = torch.from_numpy(pairs.source[row]).long(), pairs.target[row].tolist()
        assert target[-1] == ENDS.eos_id and len(tokens) == len(target)
        assert sum(tokens) == pytest.approx(log_probability(model, source, target[:-1]), abs=1e-4)


def test_the_size_of_batches_changes_nothing(pairs):
    model = small_transformer()
    whole, cut = (pair_log_probabilities([model], pairs, CPU, limit) for limit in (10_000, 1))
    for first, second in zip(whole, cut, strict=True):
        assert first == pytest.approx(second, abs=1e-4)


def test_an_ensemble_averages_probabilities(pairs):
    models = [small_transformer(seed) for seed in (1, 2)]
    together = pair_log_probabilities(models, pairs, CPU, 10_000)
    alone = [pair_log_probabilities([model], pairs, CPU, 10_000) for model in models]
    for row, tokens in enumerate(together):
        expected = torch.tensor([each[row] for each in alone]).exp().mean(0).log().tolist()
        assert list(tokens) == pytest.approx(expected, abs=1e-4)

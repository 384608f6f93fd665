"""The compiled loop, the batches and the reference are one and the same thing."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from regard.models.base.settings import Vocabularies
from regard.models.word_vectors import WordVectorSettings, WordVectorTables
from regard.objectives.settings import VectorObjectiveSettings
from regard.objectives.word2vec import keep_probabilities, negative_sampling_loss, noise_bounds, sample_negatives
from regard.training.word2vec.batches import Batches
from regard.training.word2vec.settings import VectorTrainSettings
from regard.training.word2vec.trainer import Kernel, alias_table

COUNTS = np.array([1000, 400, 100, 90, 10, 9, 1], np.int64)


class Text:
    """A stream of words in memory."""

    def __init__(self, ids, counts):
        self.ids, self.counts = np.asarray(ids, np.int32), np.asarray(counts, np.int64)

    def read(self, begin, end):
        return self.ids[begin:end].copy()


def tables(size, width=8, algorithm="skip-gram", seed=0):
    torch.manual_seed(seed)
    model = WordVectorTables(WordVectorSettings(width=width, algorithm=algorithm), Vocabularies(size, size, True))
    torch.nn.init.normal_(model.words.weight, std=0.5)
    torch.nn.init.normal_(model.contexts.weight, std=0.5)
    return model


@pytest.mark.parametrize("smoothing", [0.75, 1.0, 0.0])
def test_negatives_are_drawn_by_smoothed_counts(smoothing):
    weights = COUNTS**smoothing
    expected = weights / weights.sum()
    bounds = noise_bounds(torch.from_numpy(COUNTS), smoothing)
    drawn = sample_negatives(bounds, (200_000,), torch.Generator().manual_seed(1))
    found = np.bincount(drawn.numpy(), minlength=len(COUNTS)) / 200_000
    assert np.abs(found - expected).max() < 5 * math.sqrt(0.25 / 200_000)
    chances, other = alias_table(weights.astype(float))
    share = np.minimum(1, (chances.astype(float) + 1) / 2**32) / len(COUNTS)
    implied = share + np.bincount(other, 1 / len(COUNTS) - share, minlength=len(COUNTS))
    assert np.abs(implied - expected).max() < 1e-8  # the table of the loop is exact


@pytest.mark.parametrize("engine", ["kernel", "batches"])
def test_the_engines_pass_over_as_many_words(engine):
    generator = np.random.default_rng(0)
    ids = generator.choice(len(COUNTS), 60_000, p=COUNTS / COUNTS.sum())
    objective = VectorObjectiveSettings(window=1, negatives=1, subsampling=1e-2)
    kept = float((keep_probabilities(torch.from_numpy(COUNTS), 1e-2).numpy() * COUNTS / COUNTS.sum()).sum()) * len(
        ids
    )
    model = tables(len(COUNTS))
    learner = learner_of(engine, model, Text(ids, COUNTS), objective)
    _, pairs = learner.learn([(0, len(ids))], [7], [1e-6])
    learner.close()
    assert pairs == pytest.approx(2 * kept, rel=0.02)  # a window of one word on each side


def learner_of(engine, model, text, objective, algorithm="skip-gram", **settings):
    if engine == "kernel":
        return Kernel(model, text, objective, algorithm, threads=1)
    return Batches(model, text, objective, VectorTrainSettings(**settings), algorithm, torch.device("cpu"))


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
@pytest.mark.parametrize("engine", ["kernel", "batches"])
def test_a_step_is_the_gradient_of_the_reference(engine, algorithm):
    """Two words; all noise is the third, so that what is drawn is known."""
    model, reference = (tables(3, algorithm=algorithm) for _ in range(2))
    objective = VectorObjectiveSettings(window=1, negatives=1, subsampling=0)
    learner = learner_of(engine, model, Text([0, 1], [0, 0, 1]), objective, algorithm, pairs_per_batch=1)
    rate = 1e-3
    loss, pairs = learner.learn([(0, 2)], [3], [rate])
    learner.close()
    assert pairs == 2
    told = 0.0
    for center, context in ((0, 1), (1, 0)):
        first, second = (context, center) if algorithm == "cbow" else (center, context)
        logits = reference(torch.tensor([first]), torch.tensor([[second, 2]]))
        step = negative_sampling_loss(logits, torch.tensor([[True, False]]), torch.ones(1, 2))
        gradients = torch.autograd.grad(step, list(reference.parameters()))
        told += step.item()
        with torch.no_grad():
            for parameter, gradient in zip(reference.parameters(), gradients, strict=True):
                parameter -= rate * gradient
    # The loop looks the logistic function up in a table; batches may come in the other order.
    assert loss == pytest.approx(told, rel=5e-3)
    for one, other in zip(model.parameters(), reference.parameters(), strict=True):
        assert (one - other).abs().max() < 5e-3 * rate + 1e-6


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
def test_no_word_goes_farther_at_once_than_it_may(algorithm, monkeypatch):
    monkeypatch.setattr("regard.training.word2vec.batches.FEWEST", 1)
    ids = np.tile([0, 1], 2000)  # two words, thousands of times in one batch
    far = {}
    for limit in (0.25, 1e9):
        model = tables(4, algorithm=algorithm)
        before = [each.detach().clone() for each in model.parameters()]
        objective = VectorObjectiveSettings(window=2, subsampling=0)
        learner = learner_of(
            "batches", model, Text(ids, [1] * 4), objective, algorithm, max_row_update=limit, steps=1
        )
        learner.learn([(0, len(ids))], [1], [0.05])
        moved = [one.detach() - other for one, other in zip(model.parameters(), before, strict=True)]
        far[limit] = max(float(each.norm(dim=1).max()) for each in moved)
    assert far[0.25] <= 0.25 + 1e-6 and far[1e9] > 10 * far[0.25]


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
def test_words_that_are_everywhere_do_not_run_away(algorithm, monkeypatch):
    monkeypatch.setattr("regard.training.word2vec.batches.FEWEST", 1)
    ids = sentences()
    losses = {}
    for limit in (2.0, 1e9):
        model = tables(16, algorithm=algorithm)
        objective = VectorObjectiveSettings(subsampling=0)
        learner = learner_of(
            "batches", model, Text(ids, [1] * 16), objective, algorithm, max_row_update=limit, steps=1
        )
        found = [learner.learn([(0, len(ids))], [seed], [0.05]) for seed in range(8)]  # all of it in one step each
        losses[limit] = [loss / pairs for loss, pairs in found]
    assert losses[2.0][-1] < 0.9 * losses[2.0][0] and max(losses[2.0]) < 2 * losses[2.0][0]
    assert not max(losses[1e9]) < 10 * losses[1e9][0]  # which is what happens without a limit


def test_no_window_reaches_into_another_document():
    for engine in ("kernel", "batches"):
        for algorithm in ("skip-gram", "cbow"):
            model = tables(4, algorithm=algorithm)
            text = Text([0, 4, 1, 4, 4, 2, 4], [1, 1, 1, 1])
            learner = learner_of(engine, model, text, VectorObjectiveSettings(subsampling=0), algorithm)
            assert learner.learn([(0, 7)], [1], [0.1]) == (0.0, 0)
            learner.close()


def sentences(count=6000, seed=0):
    """Words 0-3 stand with 4-7, words 8-11 with 12-15; 16 ends a sentence."""
    generator = np.random.default_rng(seed)
    sides = generator.integers(0, 2, count)
    draws = generator.integers(0, 4, (count, 4)) + np.array([0, 4, 0, 4]) + 8 * sides[:, None]
    return np.concatenate([draws, np.full((count, 1), 16)], 1).ravel()


def reference_loss(model, ids):
    """The loss of neighbors against words drawn once for all."""
    pairs = torch.tensor([(a, b) for a, b in pairwise(ids[:4000]) if a < 16 and b < 16])
    drawn = sample_negatives(noise_bounds(torch.ones(16), 0.75), (len(pairs), 5), torch.Generator().manual_seed(5))
    targets = torch.cat([pairs[:, 1:], drawn], 1)
    labels = torch.zeros(targets.shape, dtype=torch.bool)
    labels[:, 0] = True
    counts = torch.ones(targets.shape)
    counts[:, 1:] = (drawn != pairs[:, 1:]).float()
    with torch.no_grad():
        return float(negative_sampling_loss(model(pairs[:, 0], targets), labels, counts)) / len(pairs)


def test_the_loop_and_the_batches_lower_the_same_loss():
    ids = sentences()
    found = {}
    for engine in ("kernel", "batches"):
        torch.manual_seed(1)
        model = WordVectorTables(WordVectorSettings(width=16), Vocabularies(16, 16, True))
        begin = reference_loss(model, ids)
        objective = VectorObjectiveSettings(window=3, subsampling=0)
        learner = learner_of(engine, model, Text(ids, np.ones(16)), objective, pairs_per_batch=64)
        losses = [learner.learn([(0, len(ids))], [seed], [0.025]) for seed in range(4)]
        learner.close()
        means = [loss / pairs for loss, pairs in losses]
        assert means[-1] < means[0]
        found[engine] = reference_loss(model, ids)
        assert begin == pytest.approx(6 * math.log(2), rel=0.1) and found[engine] < 0.75 * begin
    assert found["kernel"] == pytest.approx(found["batches"], rel=0.1)


def test_words_that_are_used_alike_come_near_each_other():
    ids = sentences()
    model = WordVectorTables(WordVectorSettings(width=16), Vocabularies(16, 16, True))
    learner = learner_of("kernel", model, Text(ids, np.ones(16)), VectorObjectiveSettings(window=3, subsampling=0))
    for seed in range(6):
        learner.learn([(0, len(ids))], [seed], [0.05])
    learner.close()
    directions = torch.nn.functional.normalize(model.words.weight.detach())
    cosines = directions @ directions.T
    assert cosines[:8, :8].mean() > cosines[:8, 8:].mean() + 0.5

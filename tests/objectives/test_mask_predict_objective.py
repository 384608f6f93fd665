import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from regard.data.feeds.feed import PairFeed
from regard.data.feeds.mask_predict import MaskedPairs
from regard.data.feeds.sampler import Position
from regard.objectives.loss import scaled_total
from regard.objectives.mask_predict import MaskedTranslationObjective
from regard.training.device.cuda_graphs import CudaGraphGradients
from regard.training.device.machine import Machine, prepare_machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.metrics_window import total
from regard.training.settings import MachineSettings, TrainSettings
from small import random_pairs, small_mask_predict

CPU = Machine(torch.device("cpu"), "fp32")


def gradients_of(model):
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


def test_the_loss_is_that_of_masked_words_and_of_the_length():
    model, pairs = small_mask_predict().double(), random_pairs(7)
    batch, objective = (
        MaskedPairs(pairs, 1, 0).batch(np.arange(7)),
        MaskedTranslationObjective(0.0, length_weight=0.3),
    )
    with torch.no_grad():
        loss = objective(model, batch)
        words = lengths = 0.0
        for row in range(7):
            single = MaskedPairs(pairs, 1, 0).batch(np.array([row]))
            memory = model.encode(single.source, single.source_mask)
            logits = model.project(model.decode(single.target, memory, single.target_mask))[0]
            words += F.cross_entropy(logits[single.label_positions], single.labels, reduction="sum")
            longer = int(pairs.target.lengths[row] - pairs.source.lengths[row])
            lengths += F.cross_entropy(model.length_scores(memory), torch.tensor([longer + 5]))
    assert objective.parts == tuple(loss) == ("ce", "nll", "length")
    assert_close(loss["ce"].sum, words, atol=1e-10, rtol=0)
    assert_close(loss["nll"].sum, words, atol=1e-10, rtol=0)
    assert_close(loss["length"].sum, lengths, atol=1e-10, rtol=0)
    assert [part.weight for part in loss.values()] == [1.0, 0.0, 0.3]
    counts = {"ce": batch.label_count, "nll": batch.label_count, "length": 7}
    assert objective.counts(batch) == counts == {name: part.count for name, part in loss.items()}


def test_a_target_far_longer_than_its_source_counts_as_the_longest():
    model, pairs = small_mask_predict(max_length_offset=1), random_pairs(7)
    far = np.roll(np.arange(7), 1)
    pairs = type(pairs)(pairs.source, pairs.target.select(far), 0, 0, 2)
    assert abs(pairs.target.lengths - pairs.source.lengths).max() > 1
    loss = MaskedTranslationObjective(0.1)(model, MaskedPairs(pairs, 1, 0).batch(np.arange(7)))
    assert loss["length"].sum.isfinite()


def test_four_times_eight_is_thirty_two():
    pairs, objective = MaskedPairs(random_pairs(32), 1, 0), MaskedTranslationObjective(0.1)
    found = []
    for size in (32, 8):
        model = small_mask_predict().double()
        batches = [pairs.batch(np.arange(begin, begin + size)) for begin in range(0, 32, size)]
        counts = total(objective.counts(batch) for batch in batches)
        for batch in batches:
            scaled_total(objective(model, batch), counts).backward()
        found.append(gradients_of(model))
    assert all(gradient.any() for gradient in found[0].values())
    assert_close(found[1], found[0], atol=1e-10, rtol=0)


def test_two_readings_without_dropout_agree_and_are_one():
    batch = MaskedPairs(random_pairs(9), 1, 0).batch(np.arange(9))
    with torch.no_grad():
        one, two = (
            MaskedTranslationObjective(0.1, agreement)(small_mask_predict().double(), batch) for agreement in (0, 1)
        )
    assert tuple(two) == ("ce", "nll", "r_drop", "length")
    assert two["r_drop"].sum.abs() < 1e-10 and two["r_drop"].weight == 1
    for name, part in one.items():
        assert_close(two[name].sum, part.sum, atol=1e-9, rtol=0)


@pytest.mark.parametrize("agreement", [0.0, 0.5])
def test_rounded_shapes_teach_the_same(agreement):
    batch = MaskedPairs(random_pairs(40), 1, 0).batch(np.arange(19))
    objective, found = MaskedTranslationObjective(0.1, agreement), []
    for each in (batch, batch.padded_to_bucket(64)):
        model = small_mask_predict().double()
        scaled_total(objective(model, each), objective.counts(batch)).backward()
        found.append(gradients_of(model))
    assert batch.padded_to_bucket(64).shape != batch.shape
    assert_close(found[1], found[0], atol=1e-10, rtol=0)


def trained(machine, limit=10_000, steps=20):
    model, pairs = small_mask_predict(dropout=0.0, embedding_dropout=0.0), random_pairs(100)
    settings = TrainSettings(steps=steps, warmup=0, learning_rate=0.05, optimizer="sgd")
    feed = PairFeed(lambda epoch: MaskedPairs(pairs, 1, epoch), 150, limit, seed=1)
    hooks = Hooks(lambda model: {"loss": 0.0}, lambda *_: None)
    trainer = Trainer(model, feed, MaskedTranslationObjective(0.1), settings, machine, hooks, seed=1, width=16)
    trainer.run()
    return trainer


def test_training_is_the_same_however_updates_are_cut():
    whole, cut = (trained(CPU, limit).model.state_dict() for limit in (10_000, 60))
    assert_close(cut, whole, atol=1e-4, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_replayed_gradients_train_like_computed_ones():
    plain, recorded = (
        trained(prepare_machine(MachineSettings(device="cuda", precision="fp32", cuda_graphs=has)), steps=40)
        for has in (False, True)
    )
    assert isinstance(recorded.gradients, CudaGraphGradients) and recorded.gradients._graphs
    assert_close(recorded.model.state_dict(), plain.model.state_dict(), atol=1e-4, rtol=0)
    assert recorded.state.position != Position()

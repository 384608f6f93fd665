from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from labeled import small_headed
from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.labeled import EncodedExamples, Framed
from regard.data.encoding.sequences import Sequences
from regard.data.encoding.templates import SequenceTemplate
from regard.data.feeds.feed import PairFeed
from regard.objectives.head import (
    HeadObjective,
    balanced_weights,
    label_losses,
    multi_label_losses,
    number_losses,
    span_losses,
)
from regard.objectives.loss import scaled_total
from regard.training.device.machine import Machine, prepare_machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.settings import MachineSettings, TrainSettings
from small import VOCABULARY

CPU = Machine(torch.device("cpu"), "fp32")


def examples(count=40, sequences=1, labels=3, is_for_encoder=False):
    """Return random examples of so many sequences each."""
    draw = np.random.default_rng(0)
    rows = [draw.integers(4, VOCABULARY, draw.integers(3, 12)).tolist() for _ in range(count * sequences)]
    firsts = np.arange(count + 1) * sequences
    framed = Framed(SequenceTemplate(1, 2, 3, 0, is_for_encoder), Sequences.of(rows), draw.integers(1, 8, len(rows)))
    return EncodedExamples(framed, firsts, draw.integers(0, labels, count), np.zeros(count, bool))


def test_the_loss_has_two_parts_with_counts_of_their_own():
    model, found = small_headed(), examples(6)
    batch, objective = found.batch(np.arange(6)), HeadObjective(0.5)
    loss = objective(model, batch)
    assert objective.parts == tuple(loss) == ("label", "lm")
    assert objective.counts(batch) == {"label": 6, "lm": int(found.sequences.lengths.sum()) - 6}
    assert [part.weight for part in loss.values()] == [1.0, 0.5]
    with torch.no_grad():
        expected = said = 0.0
        for row in range(6):
            tokens = torch.from_numpy(found.sequences[row].astype(np.int64))[None]
            hidden = model.body.hidden_states(tokens)
            expected += F.cross_entropy(model.output(hidden[:, -1]), torch.tensor(found.labels[row : row + 1]))
            said += F.cross_entropy(model.body.project(hidden)[0, :-1], tokens[0, 1:], reduction="sum")
    assert_close(loss["label"].sum, expected, atol=1e-10, rtol=0)
    assert_close(loss["lm"].sum, said, atol=1e-10, rtol=0)


def test_without_a_weight_the_language_model_is_not_asked():
    model, batch = small_headed(), examples(6).batch(np.arange(6))
    objective = HeadObjective(0.0)
    loss = objective(model, batch)
    assert objective.parts == tuple(loss) == ("label",) and objective.counts(batch) == {"label": 6}


LOSSES = {"regression": number_losses, "similarity": number_losses, "extractive-qa": span_losses}
SHAPES = [
    ("gpt", "classification", 1),
    ("gpt", "classification", 2),
    ("gpt", "multiple-choice", 3),
    ("gpt", "regression", 1),
    ("bert", "classification", 2),
    ("bert", "multiple-choice", 3),
    ("bert", "regression", 1),
    ("bert", "similarity", 2),
    ("bert", "token-classification", 1),
    ("bert", "extractive-qa", 3),
]


def model_of(family, kind):
    return small_headed(kind, family=family, pooling="mean" if kind == "similarity" else "token")


def made(family, kind, sequences, count=19):
    """Return examples for a kind of head; a choice among sequences stands in for one among tokens."""
    found = examples(count, sequences, is_for_encoder=family == "bert")
    draw = np.random.default_rng(1)
    if kind in ("regression", "similarity"):
        return replace(found, labels=draw.normal(size=count), uses_pooling=kind == "similarity")
    return replace(found, labels=draw.integers(0, 3, (count, 2))) if kind == "extractive-qa" else found


@pytest.mark.parametrize(("family", "kind", "sequences"), SHAPES)
def test_every_parameter_learns_from_a_batch_on_the_grid_as_from_the_batch(family, kind, sequences):
    batch = made(family, kind, sequences).batch(np.arange(19))
    objective = HeadObjective(0.5 if family == "gpt" else 0.0, LOSSES.get(kind, label_losses))
    gradients = []
    for each in (batch, batch.padded_to_bucket(64)):
        model = model_of(family, kind)
        scaled_total(objective(model, each), objective.counts(batch)).backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
    unused = ("body.head.bias", "body.transform", "body.next_sentence") + (() if model.pools else ("body.pooler",))
    for name, gradient in gradients[0].items():
        is_idle = family == "bert" and name.startswith(unused)
        assert gradient is None if is_idle else gradient.any(), name
    assert_close(gradients[0], gradients[1], atol=1e-12, rtol=0)


def trained(limit, family, kind, sequences, machine=CPU, dtype=torch.float64, **changes):
    found, model = made(family, kind, sequences, 60), model_of(family, kind).to(dtype)
    given = {"steps": 12, "tokens_per_update": 150, "warmup": 2, "validate_every": 100, "log_every": 50}
    settings = TrainSettings(**(given | changes))
    hooks = Hooks(lambda model: {"loss": 1.0}, lambda *_: None)
    feed = PairFeed(lambda epoch: found, settings.tokens_per_update, limit, 3, pool=4)
    objective = HeadObjective(0.5 if family == "gpt" else 0.0, LOSSES.get(kind, label_losses))
    trainer = Trainer(model, feed, objective, settings, machine, hooks, seed=3, width=16)
    update = next(feed.updates(trainer.state.position))
    trainer.run()
    if machine.has_graphs:
        assert trainer.gradients._graphs
    return len(update.micro_batches), dict(model.named_parameters())


@pytest.mark.parametrize(("family", "kind", "sequences"), SHAPES)
def test_four_times_eight_is_thirty_two_with_two_parts(family, kind, sequences):
    whole, cut = trained(10**9, family, kind, sequences), trained(40, family, kind, sequences)
    assert whole[0] == 1 and cut[0] > 3
    assert_close(cut[1], whole[1], atol=1e-10, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("family", "kind", "sequences"), SHAPES)
def test_replayed_gradients_train_like_computed_ones(family, kind, sequences):
    # Plain gradient descent: a key's bias has no gradient, and Adam would make whole steps out of its noise.
    changes = {"dtype": torch.float32, "optimizer": "sgd", "learning_rate": 0.05, "steps": 40}
    machines = [
        prepare_machine(MachineSettings(device="cuda", precision="fp32", cuda_graphs=each)) for each in (False, True)
    ]
    plain, recorded = (trained(60, family, kind, sequences, machine, **changes)[1] for machine in machines)
    assert_close(recorded, plain, atol=1e-4, rtol=0)


def test_the_loss_of_a_number_is_the_square_of_its_error():
    model, batch = small_headed("regression", family="bert"), made("bert", "regression", 1, 5).batch(np.arange(5))
    with torch.no_grad():
        said = model(batch.reading, batch.places, batch.candidate_mask)
        found = HeadObjective(losses=number_losses)(model, batch)["label"]
    assert found.count == 5
    assert_close(found.sum, ((said - batch.labels) ** 2).sum(), atol=1e-12, rtol=0)


def test_the_loss_of_a_span_is_the_mean_of_its_ends():
    model = small_headed("extractive-qa", family="bert")
    batch = made("bert", "extractive-qa", 3, 5).batch(np.arange(5))
    with torch.no_grad():
        said = model(batch.reading, batch.places, batch.candidate_mask).log_softmax(1)
        found = HeadObjective(losses=span_losses)(model, batch)["label"].sum
    begins, ends = (said[torch.arange(5), batch.labels[:, side], side] for side in (0, 1))
    assert_close(found, -(begins + ends).sum() / 2, atol=1e-12, rtol=0)


def test_several_labels_have_a_binary_loss_each_and_rows_that_fill_a_bucket_none():
    model = small_headed()
    targets = (np.arange(18).reshape(6, 3) % 2).astype(float)
    batch = replace(examples(6), labels=targets).batch(np.arange(6))
    objective = HeadObjective(0.0, multi_label_losses)
    part = objective(model, batch)["label"]
    logits = model(batch.reading, batch.places, batch.candidate_mask)
    assert part.count == 6
    assert_close(part.sum / 6, F.binary_cross_entropy_with_logits(logits, torch.from_numpy(targets)))
    assert_close(objective(model, batch.padded_to_bucket())["label"].sum, part.sum)


def test_weighted_losses_are_those_of_torch():
    scores, labels = torch.randn(6, 3), torch.tensor([0, 2, 1, 2, NO_LABEL, 2])
    weights = balanced_weights(labels, 3)
    reference = torch.nn.CrossEntropyLoss(weights, ignore_index=NO_LABEL, reduction="sum")(scores, labels)
    assert torch.allclose(label_losses(scores, labels, weights), reference)
    assert weights[labels[labels != NO_LABEL]].mean().item() == pytest.approx(1.0)
    assert torch.allclose(HeadObjective(class_weights=weights).losses(scores, labels), reference)

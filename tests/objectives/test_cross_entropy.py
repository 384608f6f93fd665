import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from regard.data.encoding.batches import NO_LABEL, TranslationBatch
from regard.objectives.cross_entropy import CHUNK_ELEMENTS, cross_entropy
from regard.objectives.loss import scaled_total
from regard.objectives.translation import TranslationObjective
from small import VOCABULARY, random_tokens, small_transformer


@pytest.fixture(params=[7, 10**9], ids=["many chunks", "one chunk"])
def chunked(request, monkeypatch):
    monkeypatch.setitem(CHUNK_ELEMENTS, "cpu", request.param * 11)


def example(has_bias):
    torch.manual_seed(0)
    hidden = torch.randn(50, 6, dtype=torch.double, requires_grad=True)
    weight = torch.randn(11, 6, dtype=torch.double, requires_grad=True)
    bias = torch.randn(11, dtype=torch.double, requires_grad=True) if has_bias else None
    return hidden, weight, bias, torch.randint(0, 11, (50,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("has_bias", [True, False])
def test_it_equals_the_definition_in_value_and_gradient(chunked, smoothing, has_bias):
    hidden, weight, bias, labels = example(has_bias)
    found = cross_entropy(hidden, weight, bias, labels, smoothing)
    log_p = F.linear(hidden, weight, bias).log_softmax(1)
    wanted = torch.full_like(log_p, smoothing / 10).scatter(1, labels[:, None], 1 - smoothing)
    expected = -(wanted * log_p).sum()
    assert_close(found.smoothed, expected)
    assert_close(found.plain, F.nll_loss(log_p, labels, reduction="sum"))
    inputs = [tensor for tensor in (hidden, weight, bias) if tensor is not None]
    ours = torch.autograd.grad(0.3 * found.smoothed, inputs)
    theirs = torch.autograd.grad(0.3 * expected, inputs)
    for mine, yours in zip(ours, theirs, strict=True):
        assert_close(mine, yours)


def test_smoothing_puts_its_mass_on_the_other_words_alone():
    """torch spreads it over all words, the right one included: the two agree at smoothing · V / (V - 1)."""
    hidden, weight, _, labels = example(has_bias=False)
    ours = cross_entropy(hidden, weight, None, labels, 0.1).smoothed
    theirs = F.cross_entropy(hidden @ weight.T, labels, reduction="sum", label_smoothing=0.1 * 11 / 10)
    assert_close(ours, theirs)


def test_overconfidence_is_punished():
    """With smoothing the loss rises again when the right word gets nearly everything; without, it never does."""
    weight = torch.eye(5)
    labels = torch.tensor([0])
    confident, certain = torch.tensor([[4.0, 0, 0, 0, 0]]), torch.tensor([[30.0, 0, 0, 0, 0]])
    smoothed = [cross_entropy(hidden, weight, None, labels, 0.1).smoothed for hidden in (confident, certain)]
    plain = [cross_entropy(hidden, weight, None, labels, 0.0).smoothed for hidden in (confident, certain)]
    assert smoothed[0] < smoothed[1] and plain[0] > plain[1]


def batch_of(source, target, labels, token_mask):
    places = token_mask.flatten().nonzero().squeeze(1)
    source_mask = torch.ones_like(source, dtype=torch.bool)
    return TranslationBatch(source, source_mask, target, token_mask, places, labels.flatten()[places], len(places))


def test_a_place_without_a_label_adds_nothing():
    hidden, weight, bias, labels = example(has_bias=True)
    more = torch.cat((hidden.detach(), torch.randn(3, hidden.size(1)).to(hidden))).requires_grad_()
    found = cross_entropy(more, weight, bias, F.pad(labels, (0, 3), value=NO_LABEL), 0.1)
    expected = cross_entropy(hidden, weight, bias, labels, 0.1)
    assert_close(found, expected)
    ours = torch.autograd.grad(found.smoothed, [more, weight, bias])
    theirs = torch.autograd.grad(expected.smoothed, [hidden, weight, bias])
    assert_close(ours, (F.pad(theirs[0], (0, 0, 0, 3)), *theirs[1:]))


def test_rounded_shapes_change_neither_loss_nor_gradients():
    model = small_transformer().double()
    objective = TranslationObjective(0.1)
    token_mask = torch.arange(7) < torch.tensor([[7], [3], [5]]).repeat(6, 1)[:17]
    batch = batch_of(random_tokens(17, 6), random_tokens(17, 7, seed=1), random_tokens(17, 7, seed=2), token_mask)
    rounded = batch.padded_to_bucket()
    assert batch.shape == (17, 6, 7, 85) and rounded.shape == (18, 8, 8, 88)
    assert rounded.padded_to_bucket().shape == rounded.shape and objective.counts(rounded) == objective.counts(batch)
    losses = [objective(model, each)["ce"].sum for each in (batch, rounded)]
    assert_close(*losses, rtol=1e-12, atol=0)
    gradients = [torch.autograd.grad(loss, list(model.parameters())) for loss in losses]
    assert_close(*gradients, rtol=0, atol=1e-10)


def test_padding_adds_nothing_to_loss_or_count():
    model = small_transformer()
    objective = TranslationObjective(0.1)
    source, target, labels = random_tokens(2, 5), random_tokens(2, 6, seed=1), random_tokens(2, 6, seed=2)
    token_mask = torch.arange(6) < torch.tensor([[6], [3]])
    both = objective(model, batch_of(source, target, labels, token_mask))["ce"]
    first = objective(model, batch_of(source[:1], target[:1], labels[:1], token_mask[:1]))["ce"]
    second = objective(
        model, batch_of(source[1:], target[1:, :3], labels[1:, :3], torch.ones(1, 3, dtype=torch.bool))
    )["ce"]
    assert both.count == first.count + second.count == 9
    assert_close(both.sum, first.sum + second.sum, rtol=1e-5, atol=1e-4)


def test_the_objective_equals_logits_and_a_plain_loss():
    model = small_transformer()
    source, target, labels = random_tokens(2, 5), random_tokens(2, 6, seed=1), random_tokens(2, 6, seed=2)
    batch = batch_of(source, target, labels, torch.ones(2, 6, dtype=torch.bool))
    logits = model(source, batch.source_mask, target)
    expected = F.cross_entropy(logits.view(-1, VOCABULARY), labels.flatten(), reduction="sum")
    found = TranslationObjective(0.0)(model, batch)
    assert_close(found["nll"].sum, expected, rtol=1e-5, atol=1e-4)
    assert found["nll"].weight == 0


def test_parts_are_scaled_by_the_counts_of_the_whole_update():
    model = small_transformer()
    objective = TranslationObjective(0.0)
    source, target, labels = random_tokens(2, 5), random_tokens(2, 6, seed=1), random_tokens(2, 6, seed=2)
    loss = objective(model, batch_of(source, target, labels, torch.ones(2, 6, dtype=torch.bool)))
    assert_close(scaled_total(loss, {"ce": 48, "nll": 48}), loss["ce"].sum / 48)

import sys

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels
from regard.data.encoding.batches import NO_LABEL
from regard.objectives.cross_entropy import CHUNK_ELEMENTS
from regard.objectives.loss import scaled_total
from regard.objectives.r_drop import symmetric_kl
from regard.objectives.translation import TranslationObjective
from small import random_pairs, small_transformer


@pytest.mark.parametrize("rows", [7, 10**9], ids=["many chunks", "one chunk"])
@pytest.mark.parametrize("has_bias", [True, False])
def test_it_equals_the_definition_in_value_and_gradient(rows, has_bias, monkeypatch):
    monkeypatch.setitem(CHUNK_ELEMENTS, "cpu", rows * 11)
    torch.manual_seed(0)
    first, second = (torch.randn(50, 6, dtype=torch.double, requires_grad=True) for _ in range(2))
    weight = torch.randn(11, 6, dtype=torch.double, requires_grad=True)
    bias = torch.randn(11, dtype=torch.double, requires_grad=True) if has_bias else None
    labels = torch.randint(0, 11, (50,))
    labels[20:30] = NO_LABEL
    found = symmetric_kl(first, second, weight, bias, labels)
    p, q = (F.linear(x[labels >= 0], weight, bias).log_softmax(1) for x in (first, second))
    divergence = lambda a, b: F.kl_div(b, a, log_target=True, reduction="sum")
    expected = (divergence(p, q) + divergence(q, p)) / 2
    assert_close(found, expected)
    inputs = [tensor for tensor in (first, second, weight, bias) if tensor is not None]
    ours, theirs = (torch.autograd.grad(0.3 * each, inputs) for each in (found, expected))
    for mine, yours in zip(ours, theirs, strict=True):
        assert_close(mine, yours)


def test_two_readings_without_dropout_agree_and_learn_what_one_does():
    model, batch = (
        small_transformer(dropout=0.0, embedding_dropout=0.0).double().train(),
        random_pairs().batch(np.arange(20)),
    )
    gradients = []
    for objective in (TranslationObjective(0.1), TranslationObjective(0.1, r_drop=5.0)):
        model.zero_grad()
        loss = objective(model, batch)
        scaled_total(loss, objective.counts(batch)).backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    assert loss["r_drop"].sum.item() == pytest.approx(0, abs=1e-12)
    for one, two in zip(*gradients, strict=True):
        assert_close(one, two)


def test_two_readings_with_dropout_are_apart_and_the_weight_draws_them_together():
    torch.manual_seed(0)
    model, batch = small_transformer(dropout=0.3).train(), random_pairs().batch(np.arange(20))
    objective = TranslationObjective(0.1, r_drop=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    apart = []
    for _ in range(40):
        loss = objective(model, batch)
        optimizer.zero_grad()
        scaled_total({"r_drop": loss["r_drop"]}, objective.counts(batch)).backward()
        optimizer.step()
        apart.append(loss["r_drop"].sum.item())
    assert apart[0] > 0 and sum(apart[-5:]) < sum(apart[:5]) / 4


def check():
    from regard.objectives.r_drop_kernel import symmetric_kl_rows_

    module = sys.modules["regard.objectives.r_drop"]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    shapes = (7, 16), (7, 16), (5001, 16), (5001,)
    leaves = [torch.randn(*shape, device=device, requires_grad=True) for shape in shapes]
    labels = torch.tensor([3, 1, 4, -1, 5, 9, 2], device=device)
    results = []
    for is_fused in (False, True):
        module.can_fuse = lambda hidden, is_fused=is_fused: is_fused
        divergence = symmetric_kl(*leaves, labels)
        results.append([divergence, *torch.autograd.grad(divergence, leaves)])
    assert results[0][0] > 1
    for plain, fused in zip(*results, strict=True):
        assert_close(fused, plain, atol=1e-4, rtol=1e-4)
    first, second = torch.randn(2, 2, 64, device=device).unbind(0)
    p, q = first[:, :60].softmax(1), second[:, :60].softmax(1)  # the last four columns are padding
    expected = 0.5 * ((p - q) * (p.log() - q.log())).sum(1)
    token_mask = torch.tensor([True, False], device=device)
    rows = symmetric_kl_rows_(first, second, token_mask, 60)
    assert_close(rows, expected * token_mask, atol=1e-5, rtol=1e-4)
    assert (first[:, 60:] == 0).all() and (second[1] == 0).all()  # no gradient at padding, nor in a masked row


@needs_kernels
def test_the_kernel_gives_the_same_sum_and_gradients():
    assert failure(check) == ""

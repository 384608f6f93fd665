"""What is summed up for one step."""

import torch

from regard.objectives.loss import LossPart, scaled_total


def test_an_update_without_a_label_has_gradients_of_nothing():
    weight = torch.ones(3, requires_grad=True)
    total = scaled_total(
        {"one": LossPart((weight * 0).sum(), 0), "other": LossPart((weight * 0).sum(), 0, 0.5)},
        {"one": 0, "other": 0},
    )
    total.backward()
    assert total == 0 and weight.grad.abs().sum() == 0


def test_a_part_without_a_label_leaves_the_others_alone():
    weight = torch.ones(3, requires_grad=True)
    total = scaled_total(
        {"one": LossPart(weight.sum(), 3), "other": LossPart((weight * 0).sum(), 0)}, {"one": 6, "other": 0}
    )
    assert total == 0.5

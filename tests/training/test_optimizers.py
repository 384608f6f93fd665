"""Optimizers by name, and their state by parameter name."""

import pytest
import torch
from torch import nn

from regard.training.optimizers import build_optimizer, optimizer_tensors, restore_optimizer
from regard.training.settings import TrainSettings

KINDS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}


def model_of(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))


def step(model, optimizer, seed):
    inputs = torch.randn(5, 3, generator=torch.Generator().manual_seed(seed))
    model(inputs).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.parametrize("name", KINDS)
def test_the_optimizer_is_the_one_that_is_named_and_vectors_do_not_decay(name):
    model = model_of()
    settings = TrainSettings(optimizer=name, weight_decay=0.1, learning_rate=0.5, betas=(0.8, 0.9), epsilon=1e-7)
    optimizer = build_optimizer(model, settings)
    assert type(optimizer) is KINDS[name]
    matrices, vectors = optimizer.param_groups
    assert [parameter.dim() for parameter in matrices["params"]] == [2] and matrices["weight_decay"] == 0.1
    assert {parameter.dim() for parameter in vectors["params"]} == {1} and vectors["weight_decay"] == 0.0
    assert matrices["lr"] == 0.5
    if name != "sgd":
        assert matrices["betas"] == (0.8, 0.9) and matrices["eps"] == 1e-7


@pytest.mark.parametrize("name", KINDS)
def test_a_restored_optimizer_continues_to_the_bit(name):
    settings = TrainSettings(optimizer=name, momentum=0.9 if name == "sgd" else 0.0)
    straight, resumed = model_of(), model_of()
    optimizer = build_optimizer(straight, settings)
    step(straight, optimizer, 1)
    saved = {key: value.clone() for key, value in optimizer_tensors(straight, optimizer).items()}
    assert {key.partition("/")[0] for key in saved} == dict(straight.named_parameters()).keys()
    resumed.load_state_dict(straight.state_dict())
    other = build_optimizer(resumed, settings)
    step(resumed, other, 7)  # a state that must not survive
    resumed.load_state_dict(straight.state_dict())
    restore_optimizer(resumed, other, saved)
    for seed in (2, 3):
        step(straight, optimizer, seed)
        step(resumed, other, seed)
    for one, again in zip(straight.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, again)

"""Low-rank updates of frozen weights, and layers that are unfrozen one after the other."""

import copy

import pytest
import torch

from labeled import small_headed
from regard.checkpoint.bundle import weights_of
from regard.models.adapters import add_lora, layer_groups
from regard.nn.layers.low_rank import PART, is_adapted


@pytest.fixture(params=["gpt", "bert"])
def bodied(request):
    return small_headed(family=request.param)


def moved(model, steps=3):
    """Train the model a few steps on noise, and return its weights before and after."""
    before = {name: each.detach().clone() for name, each in model.named_parameters()}
    trained = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=0.05, weight_decay=0.1)
    for step in range(steps):
        torch.manual_seed(step)
        ids = torch.randint(4, 20, (2, 6))
        states = model.body.hidden_states(ids)
        model.output(states).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    after = dict(model.named_parameters())
    return {name for name in before if not torch.equal(before[name], after[name])}


def states(model):
    model.eval()
    return model.body.hidden_states(torch.arange(4, 12).view(2, 4))


def test_at_first_a_model_with_updates_is_the_model_without(bodied):
    plain = states(bodied)
    assert add_lora(bodied.body, rank=4, alpha=8.0, targets="all-linear", seed=1) > 0
    assert is_adapted(bodied) and torch.equal(states(bodied), plain)


def test_only_updates_and_head_move(bodied):
    add_lora(bodied.body, rank=4, alpha=8.0, targets="all-linear", seed=1)
    changed = moved(bodied)
    assert changed and all(name.startswith("output.") or PART + "0." in name for name in changed)
    assert any(".up" in name for name in changed)


def test_merged_weights_give_the_same_states(bodied):
    plain = copy.deepcopy(bodied)
    add_lora(bodied.body, rank=4, alpha=8.0, targets="all-linear", seed=1)
    moved(bodied)
    whole = weights_of(bodied)
    assert whole.keys() == weights_of(plain).keys()
    before = states(plain)
    targets = plain.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, weight in whole.items():
            targets[name].copy_(weight)
    assert torch.allclose(states(plain), states(bodied), atol=1e-5)
    assert not torch.allclose(states(plain), before, atol=1e-3)


def test_updates_of_attention_leave_the_rest_alone(bodied):
    every = copy.deepcopy(bodied)
    some = add_lora(bodied.body, 2, 4.0, "attention", 1)
    assert 0 < some < add_lora(every.body, 2, 4.0, "all-linear", 1)
    names = [name for name, _ in bodied.named_parameters() if PART in name]
    assert names and all("attention" in name for name in names)


def test_updates_follow_from_the_seed_and_leave_random_numbers_alone(bodied):
    other = copy.deepcopy(bodied)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    add_lora(bodied.body, 2, 4.0, "all-linear", seed=1)
    assert torch.equal(torch.rand(1), expected)
    add_lora(other.body, 2, 4.0, "all-linear", seed=1)
    downs = [[each for name, each in model.named_parameters() if ".down" in name] for model in (bodied, other)]
    assert all(torch.equal(*pair) for pair in zip(*downs, strict=True))


def test_layers_are_unfrozen_from_the_top(bodied):
    everything = {id(each) for each in bodied.body.parameters()}
    groups = layer_groups(bodied.body)
    assert {id(each) for group in groups for each in group} == everything
    assert sum(map(len, groups)) == len(everything)
    bodied.unfreeze_gradually(0.5)
    assert not any(each.requires_grad for each in bodied.body.parameters())
    assert bodied.output.weight.requires_grad and not bodied.supports_cuda_graphs
    trained = []
    for progress in (0.0, 0.2, 0.35, 0.5, 1.0):
        bodied.advance(progress)
        trained.append([all(each.requires_grad for each in group) for group in groups])
    assert trained[0] == [False] * len(groups) and trained[3] == trained[4] == [True] * len(groups)
    assert all(flags == sorted(flags, reverse=True) for flags in trained) and sum(trained[1]) < sum(trained[2])
    assert bodied.body.blocks[-1].feed_forward.inner.weight.requires_grad


def test_frozen_layers_do_not_move(bodied):
    bodied.unfreeze_gradually(0.5)
    bodied.advance(0.2)
    below = {f"body.{name}" for name, _ in bodied.body.named_parameters() if name.startswith(("blocks.0", "embed"))}
    assert below and not below & moved(bodied)


def test_what_was_frozen_before_stays_frozen(bodied):
    bodied.body.embedding.requires_grad_(False)
    bodied.unfreeze_gradually(0.5)
    bodied.advance(1.0)
    assert not any(each.requires_grad for each in bodied.body.embedding.parameters())
    assert bodied.body.blocks[0].feed_forward.inner.weight.requires_grad

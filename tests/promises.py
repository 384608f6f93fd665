"""What every model of p(target | source) promises, as checks that tests of each family make."""

import torch
from torch.testing import assert_close

from small import random_tokens


def everything(rows, length):
    return torch.ones(rows, length, dtype=torch.bool)


def assert_causal(model):
    """Later tokens do not change earlier outputs, and do change their own."""
    source, target = random_tokens(2, 6), random_tokens(2, 7, seed=1)
    changed = target.clone()
    changed[:, 4:] = 7
    with torch.no_grad():
        before, after = (model(source, everything(2, 6), tokens) for tokens in (target, changed))
    assert_close(before[:, :4], after[:, :4], atol=1e-6, rtol=0)
    assert (before[:, 4:] - after[:, 4:]).abs().max() > 1e-3


def assert_padding_changes_nothing(model, tolerance):
    source, target = random_tokens(1, 5), random_tokens(1, 4, seed=1)
    padded = torch.cat((source, random_tokens(1, 3, seed=2)), 1)  # whatever stands in the padding
    longer = torch.cat((target, random_tokens(1, 2, seed=3)), 1)
    real = torch.arange(8)[None] < 5
    with torch.no_grad():
        alone = model(source, everything(1, 5), target)
        with_padding = model(padded, real, longer)[:, :4]
    assert_close(alone, with_padding, atol=tolerance, rtol=0)


def assert_steps_equal_the_whole(model):
    """Decoding with a state, one token or several at a time, is decoding at once."""
    source, target = random_tokens(2, 6), random_tokens(2, 9, seed=1)
    real = torch.arange(6) < torch.tensor([[6], [4]])
    with torch.no_grad():
        whole = model(source, real, target)
        memory, state = model.encode(source, real), model.start()
        pieces = [target[:, :3], target[:, 3:4], target[:, 4:6], target[:, 6:]]
        steps = torch.cat([model.project(model.decode(piece, memory, state)) for piece in pieces], 1)
    assert_close(steps, whole, atol=1e-4, rtol=0)

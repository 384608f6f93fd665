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
    token_mask = torch.arange(8)[None] < 5
    with torch.no_grad():
        alone = model(source, everything(1, 5), target)
        with_padding = model(padded, token_mask, longer)[:, :4]
    assert_close(alone, with_padding, atol=tolerance, rtol=0)


def assert_steps_equal_the_whole(model):
    """Decoding with a state, one token or several at a time, is decoding at once."""
    source, target = random_tokens(2, 6), random_tokens(2, 9, seed=1)
    token_mask = torch.arange(6) < torch.tensor([[6], [4]])
    with torch.no_grad():
        whole = model(source, token_mask, target)
        memory, state = model.encode(source, token_mask), model.start()
        pieces = [target[:, :3], target[:, 3:4], target[:, 4:6], target[:, 6:]]
        steps = torch.cat([model.project(model.decode(piece, memory, state)) for piece in pieces], 1)
    assert_close(steps, whole, atol=1e-4, rtol=0)


def assert_hypotheses_see_their_own_past(model, tokens_a_step):
    """Two sentences: one hypothesis each, then three, swapped at every step, then one sentence leaves."""
    source = random_tokens(2, 6)
    token_mask = torch.arange(6) < torch.tensor([[6], [4]])
    origins = [[[0, 0, 0], [0, 0, 0]], [[2, 0, 0], [1, 2, 2]], [[1, 2, 0], [0, 0, 1]]]  # within each sentence
    past = random_tokens(2, 1, seed=1)[:, None]  # (B, hypotheses, length)
    with torch.no_grad():
        memory, state = model.encode(source, token_mask), model.start()
        found = model.decode(past.flatten(0, 1), memory, state)
        for step, chosen in enumerate(torch.tensor(origins)):
            hypotheses = past.size(1)
            rows = (torch.arange(2)[:, None] * hypotheses + chosen).flatten()
            new = random_tokens(6, tokens_a_step, seed=step + 2).view(2, 3, tokens_a_step)
            past = torch.cat((past.flatten(0, 1)[rows].view(2, 3, -1), new), dim=2)
            state = state.select(rows)
            found = model.decode(new.flatten(0, 1), memory, state)
        whole = model.decode(
            past.flatten(0, 1), model.encode(source, token_mask).select(torch.tensor([0, 0, 0, 1, 1, 1]))
        )
        assert_close(found, whole[:, -tokens_a_step:], atol=1e-4, rtol=0)
        last = torch.tensor([1])
        memory, state = memory.select(last), state.select(torch.tensor([5, 3, 4]), last)
        new = random_tokens(3, 1, seed=9)
        found = model.decode(new, memory, state)
        past = torch.cat((past[1, [2, 0, 1]], new), dim=1)
        whole = model.decode(past, model.encode(source[1:, :4], token_mask[1:, :4]).select(torch.tensor([0, 0, 0])))
    assert_close(found, whole[:, -1:], atol=1e-4, rtol=0)

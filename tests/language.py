"""Properties of every language model, as assertions shared by the tests of each family."""

import torch
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from small import VOCABULARY, random_tokens


def small_language_model(settings, seed=0):
    """Return a small model in fp64 whose outputs are far from uniform, so that comparisons mean something."""
    torch.manual_seed(seed)
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def padded_in_front(tokens, lengths):
    """Return rows padded in front with arbitrary tokens, and their token mask."""
    token_mask = torch.arange(tokens.size(1)) >= tokens.size(1) - torch.tensor(lengths)[:, None]
    return torch.where(token_mask, tokens, random_tokens(*tokens.shape, seed=99)), token_mask


def assert_causal(model):
    """Later tokens do not change earlier outputs, and do change their own."""
    tokens = random_tokens(2, 7)
    changed = tokens.clone()
    changed[:, 4:] = 7
    with torch.no_grad():
        before, after = model(tokens), model(changed)
    assert_close(before[:, :4], after[:, :4], atol=1e-9, rtol=0)
    assert (before[:, 4:] - after[:, 4:]).abs().max() > 1e-3


def assert_chunks_equal_the_whole(model, sizes):
    """Hidden states with a state, one token or several at a time, are those of the whole text."""
    tokens = random_tokens(2, sum(sizes))
    with torch.no_grad():
        whole, state = model(tokens), model.start()
        chunks = [model.project(model.hidden_states(chunk, state)) for chunk in tokens.split(sizes, 1)]
    assert_close(torch.cat(chunks, 1), whole, atol=1e-9, rtol=0)


def assert_padding_in_front_changes_nothing(model):
    """A batch of prompts of different lengths has the hidden states of each alone, with a state too."""
    lengths = [6, 2, 4, 2]
    tokens, more = random_tokens(4, 6), random_tokens(4, 5, seed=1)
    padded, token_mask = padded_in_front(tokens, lengths)
    with torch.no_grad():
        state = model.start()
        hidden = torch.cat(
            (model.hidden_states(padded, state, token_mask), model.hidden_states(more[:, :1], state)), 1
        )
        hidden = torch.cat((hidden, model.hidden_states(more[:, 1:], state)), 1)
        assert_close(model.hidden_states(padded, None, token_mask), hidden[:, :6], atol=1e-9, rtol=0)
        for row, length in enumerate(lengths):
            alone = model.hidden_states(torch.cat((tokens[row, -length:], more[row]))[None])
            assert_close(hidden[row : row + 1, 6 - length :], alone, atol=1e-9, rtol=0)
        assert_close(
            model.hidden_states(tokens, None, torch.ones_like(token_mask)),
            model.hidden_states(tokens),
            atol=1e-9,
            rtol=0,
        )


def assert_hypotheses_see_their_own_past(model, tokens_a_step):
    """Two prompts, one behind padding: one hypothesis each, then three, swapped at every step, then one leaves."""
    lengths = [4, 2]
    tokens = random_tokens(2, 4)
    prompts, token_mask = padded_in_front(tokens, lengths)
    past = [tokens[row, None, -length:].expand(3, -1) for row, length in enumerate(lengths)]  # (hypotheses, length)
    origins = [[[0, 0, 0], [0, 0, 0]], [[2, 0, 0], [1, 2, 2]], [[1, 2, 0], [0, 0, 1]]]  # within each sentence
    with torch.no_grad():
        state = model.start()
        model.hidden_states(prompts, state, token_mask)
        for step, chosen in enumerate(torch.tensor(origins)):
            rows = torch.arange(2)[:, None] * (3 if step else 1) + chosen
            new = random_tokens(6, tokens_a_step, seed=step + 2).view(2, 3, tokens_a_step)
            past = [torch.cat((past[row][chosen[row]], new[row]), 1) for row in range(2)]
            state = state.select(rows.flatten())
            hidden = model.hidden_states(new.flatten(0, 1), state).unflatten(0, (2, 3))
        for row in range(2):
            assert_close(hidden[row], model.hidden_states(past[row])[:, -tokens_a_step:], atol=1e-9, rtol=0)
        state = state.select(torch.tensor([5, 3, 4]), torch.tensor([1]))
        new = random_tokens(3, 1, seed=9)
        whole = model.hidden_states(torch.cat((past[1][[2, 0, 1]], new), 1))
        assert_close(model.hidden_states(new, state), whole[:, -1:], atol=1e-9, rtol=0)


def assert_selected_rows_continue(model):
    """Selected rows, in any order, continue as if they had been alone."""
    tokens, more, lengths = random_tokens(3, 5), random_tokens(3, 2, seed=1), [5, 3, 1]
    padded, token_mask = padded_in_front(tokens, lengths)
    rows = torch.tensor([2, 0, 2, 1])
    with torch.no_grad():
        state = model.start()
        model.hidden_states(padded, state, token_mask)
        hidden = model.hidden_states(more[rows], state.select(rows, rows))
        for index, row in enumerate(rows.tolist()):
            whole = model.hidden_states(torch.cat((tokens[row, 5 - lengths[row] :], more[row]))[None])
            assert_close(hidden[index : index + 1], whole[:, -2:], atol=1e-9, rtol=0)


def assert_every_parameter_learns(model):
    model.train()(random_tokens(2, 6)).square().sum().backward()
    assert not [name for name, each in model.named_parameters() if each.grad is None or not each.grad.any()]


def assert_dropout_acts_in_training_only(build, names):
    """`build` returns a model with some settings changed."""
    tokens = random_tokens(2, 6)
    for name in names:
        model = build(**(dict.fromkeys(names, 0.0) | {name: 0.5}))
        with torch.no_grad():
            expected = model(tokens)
            assert torch.equal(model(tokens), expected)
            assert not torch.allclose(model.train()(tokens), expected), name

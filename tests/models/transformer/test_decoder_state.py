"""Memory and state of a Transformer decoder: rows, slots and who sees which."""

import torch
from torch.testing import assert_close

from regard.models.transformer import state as state_module
from regard.models.transformer.state import MANY_UNSEEN, TransformerMemory, TransformerState
from regard.models.transformer.static_cache import StaticDecoderState, StaticKeyValueCache
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.layers.positions import Positions
from small import random_tokens, small_transformer, sources

LIKE = torch.zeros(1)


def advance(state, hypotheses, steps, token_mask=None):
    """Take a step without a model: count positions, and append as many slots to the cache."""
    positions, view = state.view(hypotheses, steps, Positions(), LIKE, token_mask)
    rows = len(token_mask) if token_mask is not None else 2
    state.caches[0].append(*(torch.randn(rows, 1, hypotheses * steps, 4) for _ in range(2)))
    return positions, view


def test_memory_selects_sentences_with_their_projections_and_bias():
    pair = torch.randn(3, 1, 4, 2), torch.randn(3, 1, 4, 2)
    memory = TransformerMemory(torch.randn(3, 4, 2), torch.ones(3, 4) > 0, [pair], View(bias=torch.randn(3, 1, 1, 4)))
    chosen = memory.select(torch.tensor([2, 0]))
    assert chosen.states is memory.states, "their keys and values are what is attended to"
    assert_close(chosen.projected[0][1], pair[1][[2, 0]])
    assert_close(chosen.view.bias, memory.view.bias[[2, 0]])
    memory.projected = None
    assert_close(memory.select(torch.tensor([2, 0])).states, memory.states[[2, 0]])


def test_positions_count_on_and_branches_see_their_own_slots():
    state = TransformerState([KeyValueCache()])
    positions, view = advance(state, 1, 3)
    assert positions.tolist() == [0, 1, 2] and view.is_causal and state.length == 3
    state = state.select(torch.tensor([0, 0, 1, 1]))  # two hypotheses each
    positions, view = advance(state, 2, 1)
    assert positions.tolist() == [3, 3] and state.slots.tolist() == [0, 1, 2, 3, 3]
    seen = view.bias[:, 0] == 0  # (B, hypotheses, slots)
    assert seen[0].tolist() == [[True, True, True, True, False], [True, True, True, False, True]]
    state = state.select(torch.tensor([1, 0]), torch.tensor([0]))  # the second sentence leaves, hypotheses swap
    assert state.seen[0].tolist() == [[True, True, True, False, True], [True, True, True, True, False]]
    assert state.caches[0].sentences == 1


def test_left_padding_has_no_position_and_is_never_seen():
    state = TransformerState([KeyValueCache()])
    token_mask = torch.tensor([[True, True, True], [False, False, True]])
    positions, view = advance(state, 1, 3, token_mask)
    assert positions.tolist() == [[0, 1, 2], [0, 0, 0]] and state.padding.tolist() == [0, 2]
    assert (view.bias[1, 0, 2] == 0).tolist() == [False, False, True]
    positions, view = advance(state, 1, 1)
    assert positions.tolist() == [[3], [1]]
    assert (view.bias[1, 0, 0] == 0).tolist() == [False, False, True, True]


def test_a_static_cache_writes_to_its_slots():
    slots = torch.tensor([3, 1])
    cache = StaticKeyValueCache(torch.zeros(1, 2, 5, 3), torch.zeros(1, 2, 5, 3), slots)
    keys, values = torch.randn(1, 2, 2, 3), torch.randn(1, 2, 2, 3)
    all_keys, all_values = cache.append(keys, values)
    assert all_keys is cache.keys and all_values is cache.values
    assert_close(all_keys[:, :, [3, 1]], keys)
    assert_close(all_values[:, :, [3, 1]], values)
    assert not all_keys[:, :, [0, 2, 4]].any()


def test_a_static_state_follows_the_order_of_hypotheses():
    state = StaticDecoderState(1, (1, 1, 6, 2), 2, LIKE)
    state.view(2, 1, Positions(), LIKE)
    state.follow(torch.tensor([1, 1]))
    positions, view = state.view(2, 1, Positions(), LIKE)
    assert positions.tolist() == [1, 1] and state.cursor == 4
    expected = [[False, True, True, False, False, False], [False, True, False, True, False, False]]
    assert (view.bias[0, 0] == 0).tolist() == expected


@torch.no_grad()
def test_a_state_may_be_unloaded_and_loaded_between_static_steps():
    model = small_transformer()
    source, token_mask = sources([5, 3])
    target = random_tokens(2, 6, seed=1)
    expected = model(source, token_mask, target)
    memory, state = model.encode(source, token_mask), model.start()
    model.decode(target[:, :1], memory, state)
    logits = []
    for begin in (1, 3):
        static = model.static_state(4, 8, 1, 16)  # two rows and some slots more than needed
        assert static.load(memory, state) == 16 - begin
        for step in range(begin, begin + 2):
            tokens = torch.cat((target[:, step], torch.zeros(2, dtype=torch.long)))
            logits.append(static.step(tokens, torch.arange(4))[:2].clone())
        memory, state = static.unload(torch.arange(2), 2)
    assert state.length == 5
    assert_close(torch.stack(logits, 1), expected[:, 1:5], atol=1e-4, rtol=0)
    assert static.size > 0


@torch.no_grad()
def test_slots_that_no_hypothesis_sees_are_dropped_and_change_nothing(monkeypatch):
    monkeypatch.setattr(state_module, "MANY_IN_ALL", 40)  # 1280 are too many for a test
    model, hypotheses, widths = small_transformer(), 3, []
    source, token_mask = sources([5, 3])
    tokens, rows = random_tokens(6, 40, seed=1), torch.arange(2).repeat_interleave(hypotheses)
    memory, state = model.encode(source, token_mask), model.start()
    model.decode(tokens[::hypotheses, :1], memory, state)
    state, pasts = state.select(rows), tokens[::hypotheses, :1].repeat_interleave(hypotheses, 0)
    for step in range(1, 40):
        pasts = torch.cat((pasts, tokens[:, step : step + 1]), 1)
        hidden = model.decode(pasts[:, -1:], memory, state)[:, -1]
        widths.append(state.caches[0].length)
        if step % 7 == 0:
            whole = model.decode(pasts, model.encode(source, token_mask).select(rows))[:, -1]
            assert_close(hidden, whole, atol=1e-5, rtol=0)
        order = (torch.randint(hypotheses, (2, hypotheses)) + torch.tensor([[0], [hypotheses]])).flatten()
        pasts, state = pasts[order], state.select(order)
    assert max(widths) < 1 + 39 * hypotheses and max(widths) < 60 + MANY_UNSEEN


def test_a_row_that_leaves_is_overwritten_by_the_last_one():
    state = TransformerState([KeyValueCache()])
    keys = torch.randn(3, 1, 2, 4)
    state.view(1, 2, Positions(), LIKE)
    state.caches[0].append(keys, keys)
    room = state.caches[0]._buffer
    state = state.select(torch.tensor([2, 1]), torch.tensor([2, 1]))
    assert_close(state.caches[0].all()[0], keys[[2, 1]])
    assert state.caches[0]._buffer is room
    state = state.select(torch.tensor([1, 0]), torch.tensor([1, 0]))  # another order is a copy
    assert_close(state.caches[0].all()[0], keys[[1, 2]])
    assert state.caches[0]._buffer is not room

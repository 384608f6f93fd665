import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from regard.nn.attention.attention import SelfAttention, View, attention_weights, fused_attention
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.attention.masks import causal_mask, padding_mask
from small import random_tokens, small_transformer


def test_golden_scores_112_and_96_become_088_and_012():
    """d_k = 64: 112 / 8 = 14 and 96 / 8 = 12, and z = 0.88 v1 + 0.12 v2."""
    query = torch.zeros(1, 1, 1, 64)
    query[..., 0] = 1.0
    key = torch.zeros(1, 1, 2, 64)
    key[0, 0, :, 0] = torch.tensor([112.0, 96.0])
    weights = attention_weights(query, key, View())
    assert [round(weight, 2) for weight in weights.flatten().tolist()] == [0.88, 0.12]
    value = torch.randn(1, 1, 2, 64)
    z = fused_attention(query, key, value, View(), 0.0)
    assert_close(z[0, 0, 0], weights[0, 0, 0, 0] * value[0, 0, 0] + weights[0, 0, 0, 1] * value[0, 0, 1])


def test_golden_first_row_of_a_causal_triangle_sees_only_the_first_word():
    query, key = torch.randn(2, 1, 1, 3, 8)
    weights = attention_weights(query, key, View(is_causal=True))[0, 0]
    assert weights[0].tolist() == [1.0, 0.0, 0.0]
    assert weights[1, 2] == 0 and (weights[2] > 0).all()
    assert_close(weights.sum(-1), torch.ones(3))


def test_a_causal_mask_lines_up_with_the_last_key():
    expected = [[True, True, True, False], [True, True, True, True]]
    assert causal_mask(2, 4, torch.device("cpu")).tolist() == expected


def test_golden_three_heads_of_width_512_at_width_512():
    attention = SelfAttention(512, heads=3, head_width=512, dropout=0.0, has_bias=True)
    assert tuple(attention.output.weight.T.shape) == (1536, 512)
    assert attention(torch.randn(2, 5, 512), View()).shape == (2, 5, 512)


def views(T, S):
    token_mask = torch.ones(2, S, dtype=torch.bool)
    token_mask[1, S - 2 :] = False
    bias = torch.randn(4, T, S)
    yield "plain", View()
    yield "padding", View(padding_mask(token_mask))
    yield "causal", View(is_causal=True)
    yield "causal and padding", View(padding_mask(token_mask), is_causal=True)
    yield "bias", View(bias=bias)
    yield "bias, causal and padding", View(padding_mask(token_mask), is_causal=True, bias=bias)


@pytest.mark.parametrize("T, S", [(6, 6), (2, 6), (1, 6)])
def test_the_fused_path_equals_the_visible_one(T, S):
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, T, 8), torch.randn(2, 4, S, 8), torch.randn(2, 4, S, 8)
    for name, view in views(T, S):
        visible = attention_weights(query, key, view) @ value
        assert_close(fused_attention(query, key, value, view, 0.0), visible, atol=1e-5, rtol=0, msg=name)


def test_weights_are_zero_where_the_mask_forbids_a_look():
    query, key = torch.randn(2, 2, 1, 4, 8)
    token_mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    weights = attention_weights(query, key, View(padding_mask(token_mask)))
    assert (weights[0, :, :, 2:] == 0).all() and (weights[1] > 0).all()


def test_self_attention_equals_torch_multihead_attention():
    torch.manual_seed(0)
    ours = SelfAttention(16, heads=4, head_width=4, dropout=0.0, has_bias=True)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        ours.query_key_value.bias.normal_()
        theirs.in_proj_weight.copy_(ours.query_key_value.weight)
        theirs.in_proj_bias.copy_(ours.query_key_value.bias)
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    x = torch.randn(3, 7, 16)
    token_mask = torch.arange(7) < torch.tensor([[7], [4], [2]])
    expected, weights = theirs(x, x, x, key_padding_mask=~token_mask, average_attn_weights=False)
    assert_close(ours(x, View(padding_mask(token_mask))), expected, atol=1e-5, rtol=0)
    seen = {}
    ours.weights.listener = lambda value: seen.update(weights=value)
    assert_close(ours(x, View(padding_mask(token_mask))), expected, atol=1e-5, rtol=0)
    assert_close(seen["weights"], weights, atol=1e-5, rtol=0)


def test_a_cache_changes_nothing_but_the_work():
    torch.manual_seed(0)
    attention = SelfAttention(16, heads=4, head_width=4, dropout=0.0, has_bias=True).eval()
    x = torch.randn(2, 40, 16)  # longer than the cache's first room
    whole = attention(x, View(is_causal=True))
    cache = KeyValueCache()
    steps = [attention(x[:, t : t + 1], View(is_causal=True), cache) for t in range(20)]
    steps.append(attention(x[:, 20:], View(is_causal=True), cache))  # and many positions at once
    assert_close(torch.cat(steps, 1), whole, atol=1e-5, rtol=0)


def test_switching_a_head_off_removes_its_part_of_the_output():
    torch.manual_seed(0)
    attention = SelfAttention(8, heads=2, head_width=4, dropout=0.0, has_bias=False).eval()
    x = torch.randn(1, 3, 8)
    whole = attention(x, View())
    kept = []
    for head in range(2):
        gate = torch.zeros(1, 2, 1, 1)
        gate[:, head] = 1
        attention.heads.listener = lambda seen, gate=gate: seen * gate
        kept.append(attention(x, View()))
    assert_close(kept[0] + kept[1], whole)
    assert not torch.allclose(kept[0], whole)


def test_probes_on_a_whole_model_do_not_change_its_output():
    model = small_transformer()
    source, target = random_tokens(2, 6), random_tokens(2, 5, seed=1)
    token_mask = torch.arange(6) < torch.tensor([[6], [4]])
    with torch.no_grad():
        fused = model(source, token_mask, target)
        seen = {}
        for name, module in model.named_modules():
            if name.endswith(".weights"):
                module.listener = lambda value, name=name: seen.update({name: value})
        visible = model(source, token_mask, target)
    assert_close(fused, visible, atol=1e-5, rtol=0)
    assert len(seen) == 2 + 2 * 2
    assert all(math.isclose(weights.sum(-1).mean().item(), 1, rel_tol=1e-5) for weights in seen.values())


@pytest.mark.parametrize("groups", [1, 2])
def test_grouped_heads_are_full_heads_with_their_keys_and_values_repeated(groups):
    torch.manual_seed(0)
    grouped = SelfAttention(16, heads=4, head_width=4, dropout=0.0, has_bias=True, groups=groups).eval()
    full = SelfAttention(16, heads=4, head_width=4, dropout=0.0, has_bias=True).eval()
    with torch.no_grad():
        grouped.query_key_value.bias.normal_()
        for ours, theirs in zip(full.query_key_value.parameters(), grouped.query_key_value.parameters(), strict=True):
            query, key, value = theirs.split((16, 4 * groups, 4 * groups))
            repeated = [part.unflatten(0, (groups, 4)).repeat_interleave(4 // groups, 0) for part in (key, value)]
            ours.copy_(torch.cat((query, *(part.flatten(0, 1) for part in repeated))))
        full.output.load_state_dict(grouped.output.state_dict())
    x = torch.randn(2, 6, 16)
    for name, view in views(6, 6):
        assert_close(grouped(x, view), full(x, view), atol=1e-5, rtol=0, msg=name)
    cache = KeyValueCache()
    steps = [grouped(x[:, t : t + 1], View(is_causal=True), cache) for t in range(6)]
    assert_close(torch.cat(steps, 1), full(x, View(is_causal=True)), atol=1e-5, rtol=0)
    assert cache.all()[0].shape == (2, groups, 6, 4)


@pytest.mark.parametrize("T, S", [(6, 6), (2, 6), (1, 6)])
def test_the_fused_path_of_grouped_heads_equals_the_visible_one(T, S):
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, T, 8), torch.randn(2, 2, S, 8), torch.randn(2, 2, S, 8)
    for name, view in views(T, S):
        visible = attention_weights(query, key, view) @ value.repeat_interleave(2, 1)
        assert_close(fused_attention(query, key, value, view, 0.0), visible, atol=1e-5, rtol=0, msg=name)


def test_a_selected_cache_goes_on_where_it_was():
    cache = KeyValueCache()
    keys, values = torch.randn(3, 2, 5, 4), torch.randn(3, 2, 5, 4)
    cache.append(keys, values)
    rows = torch.tensor([2, 0])
    chosen = cache.select(rows)
    more = torch.randn(2, 2, 40, 4)  # more than there is room for
    found_keys, found_values = chosen.append(more, more)
    assert_close(found_keys, torch.cat((keys[rows], more), 2))
    assert_close(found_values, torch.cat((values[rows], more), 2))
    assert chosen.sentences == 2 and cache.sentences == 3 and cache.length == 5

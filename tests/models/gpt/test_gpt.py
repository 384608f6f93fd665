import math

import pytest
import torch
from torch.testing import assert_close

from language import (
    assert_causal,
    assert_chunks_equal_the_whole,
    assert_dropout_acts_in_training_only,
    assert_every_parameter_learns,
    assert_hypotheses_see_their_own_past,
    assert_padding_in_front_changes_nothing,
    assert_selected_rows_continue,
    padded_in_front,
    small_language_model,
)
from regard.errors import DataError
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, count_parameters
from regard.models.gpt.model import GptSettings
from regard.nn.probes.probe import listening, probes
from small import random_tokens

SCHEMES = ["learned", "sinusoidal", "rotary", "alibi", "relative", "index", "none"]
MODERN = {
    "positions": "rotary",
    "norm": "rms",
    "activation": "swiglu",
    "has_bias": False,
    "key_value_heads": 2,
    "embeddings": "separate",
}
VARIANTS = [
    *({"positions": scheme} for scheme in SCHEMES),
    {"norm_order": "post"},
    {"norm_order": "res-post"},
    {"key_value_heads": 1, "positions": "alibi"},
    {"embeddings": "separate", "has_output_bias": True, "scales_embeddings": True},
    MODERN,
]


def small_settings(**changes):
    return GptSettings(**({"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2} | changes))


def small_gpt(**changes):
    return small_language_model(small_settings(**changes))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_later_tokens_do_not_change_earlier_outputs(variant):
    assert_causal(small_gpt(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("sizes", [[1] * 9, [4, 1, 3, 1], [9]], ids=str)
def test_reading_with_a_cache_equals_reading_without(variant, sizes):
    assert_chunks_equal_the_whole(small_gpt(**variant), sizes)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_padding_in_front_changes_nothing(variant):
    assert_padding_in_front_changes_nothing(small_gpt(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("tokens_a_step", [1, 2])
def test_hypotheses_that_branch_and_swap_see_their_own_past_only(variant, tokens_a_step):
    assert_hypotheses_see_their_own_past(small_gpt(**variant), tokens_a_step)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_selected_rows_go_on_as_if_they_had_always_been_there(variant):
    assert_selected_rows_continue(small_gpt(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_parameter_learns(variant):
    assert_every_parameter_learns(small_gpt(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_listeners_see_attention_and_change_nothing(variant):
    model = small_gpt(**variant)
    tokens, token_mask = padded_in_front(random_tokens(2, 6), [6, 4])
    found = {name: probe for name, probe in probes(model).items() if name.endswith(".weights")}
    assert list(found) == [f"blocks.{number}.attention.weights" for number in range(2)]
    for known in (None, token_mask):
        seen = []
        with torch.no_grad(), listening(dict.fromkeys(found.values(), seen.append)):
            heard = model.hidden_states(tokens, None, known)
        assert_close(heard, model.hidden_states(tokens, None, known), atol=1e-9, rtol=0)
        for weights in seen:
            assert weights.shape == (2, 4, 6, 6) and not weights.triu(1).any()
            assert_close(weights.sum(-1), torch.ones(2, 4, 6, dtype=torch.double))
            assert known is None or not weights[1, :, 2:, :2].any()


def test_grouped_heads_are_full_heads_with_their_keys_and_values_repeated():
    grouped, full = small_gpt(key_value_heads=2), small_gpt()
    weights = grouped.state_dict()
    for name, value in weights.items():
        if "query_key_value" in name:
            query, *rest = value.split((16, 8, 8))
            rest = [part.unflatten(0, (2, 4)).repeat_interleave(2, 0).flatten(0, 1) for part in rest]
            weights[name] = torch.cat((query, *rest))
    full.load_state_dict(weights)
    tokens = random_tokens(2, 7)
    with torch.no_grad():
        assert_close(grouped(tokens), full(tokens), atol=1e-9, rtol=0)


def test_training_needs_no_mask(monkeypatch):
    """Nothing but the fused causal kernel is called: it skips what lies ahead."""
    asked = []
    fused = torch.nn.functional.scaled_dot_product_attention

    def spy(query, key, value, mask=None, **options):
        asked.append((mask, options["is_causal"]))
        return fused(query, key, value, mask, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    for variant in ({}, MODERN):
        small_gpt(**variant).train()(random_tokens(2, 6))
        small_gpt(**variant).train()(random_tokens(2, 6), torch.ones(2, 6, dtype=torch.bool))
    assert asked == [(None, True)] * 8


def test_weights_start_as_gpt_2_draws_them():
    torch.manual_seed(0)
    settings = GptSettings(width=128, heads=4, feed_forward_width=512, layers=8, embeddings="separate")
    model = build_model(settings, Vocabularies(500, 500, True))
    within, last = [], []
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            is_last = name.endswith(("attention.output.weight", "feed_forward.outer.weight"))
            (last if is_last else within).append(weight.std().item())
    assert len(last) == 16 and within == pytest.approx([0.02] * len(within), rel=0.03)
    assert last == pytest.approx([0.02 / 4] * 16, rel=0.03)
    with torch.no_grad():
        logits = model.eval()(random_tokens(4, 50))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), random_tokens(4, 50, seed=1).flatten())
    assert abs(loss.item() - math.log(500)) < 0.1


def test_embeddings_are_shared_as_the_setting_says():
    for embeddings, tables in (("shared", 1), ("separate", 2)):
        model = small_gpt(embeddings=embeddings)
        assert len({model.embedding.table.weight, model.head.weight}) == tables
    sizes = [
        count_parameters(small_settings(embeddings=each), Vocabularies(100, 100, True))
        for each in ("shared", "separate")
    ]
    assert sizes[1] - sizes[0] == 100 * 16


def test_learned_positions_are_a_bound_and_others_are_none():
    assert small_gpt(max_positions=7).max_positions == 7
    assert {small_gpt(positions=scheme).max_positions for scheme in SCHEMES[1:]} == {None}


def test_going_past_the_last_position_is_refused_and_padding_has_none():
    model = small_gpt(max_positions=6)
    tokens, token_mask = padded_in_front(random_tokens(2, 8), [4, 5])
    with pytest.raises(DataError, match="A sequence of 8 tokens goes past the 6 positions this model has learned"):
        model.hidden_states(tokens)
    with torch.no_grad():
        assert_close(
            model.hidden_states(tokens, None, token_mask)[0, 4:],
            model.hidden_states(tokens[:1, 4:])[0],
            atol=1e-9,
            rtol=0,
        )
        state = model.start()
        model.hidden_states(tokens, state, token_mask)
        model.hidden_states(tokens[:, :1], state)
        with pytest.raises(DataError, match="A sequence of 7 tokens goes past the 6 positions"):
            model.hidden_states(tokens[:, :1], state)
        model.hidden_states(tokens[:1, :1], state.select(torch.tensor([0]), torch.tensor([0])))


def test_every_dropout_acts_in_training_and_only_there():
    names = ("dropout", "attention_dropout", "embedding_dropout", "feed_forward_dropout")
    assert_dropout_acts_in_training_only(small_gpt, names)


def test_odd_widths_are_refused_where_features_come_in_pairs():
    with pytest.raises(ValueError, match="head_width: 5 is not even, but rotary positions rotate pairs of features"):
        small_settings(width=15, heads=3, positions="rotary")


def test_a_row_of_padding_alone_begins_with_what_follows():
    model = small_gpt()
    token_mask = torch.tensor([[True] * 3, [False] * 3])
    tokens, more = random_tokens(2, 3), random_tokens(2, 2, seed=1)
    with torch.no_grad():
        state = model.start()
        model.hidden_states(tokens, state, token_mask)
        assert_close(model.hidden_states(more, state)[1:], model.hidden_states(more[1:]), atol=1e-9, rtol=0)

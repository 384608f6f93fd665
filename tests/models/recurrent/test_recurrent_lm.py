import pytest
import torch
from torch import nn
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
from regard.models.recurrent.language_model import RecurrentLmSettings
from small import random_tokens

VARIANTS = [
    *({"cell": cell, "layers": layers} for cell in ("rnn", "lstm", "gru") for layers in (1, 2)),
    {"embedding_width": 12},
    {"embedding_width": 12, "embeddings": "separate"},
]


def small_model(**changes):
    return small_language_model(RecurrentLmSettings(**({"width": 16} | changes)))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_later_tokens_do_not_change_earlier_outputs(variant):
    assert_causal(small_model(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("sizes", [[1] * 9, [4, 1, 3, 1]], ids=str)
def test_reading_in_pieces_equals_reading_at_once(variant, sizes):
    assert_chunks_equal_the_whole(small_model(**variant), sizes)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_padding_in_front_changes_nothing(variant):
    assert_padding_in_front_changes_nothing(small_model(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("tokens_a_step", [1, 2])
def test_hypotheses_that_branch_and_swap_see_their_own_past_only(variant, tokens_a_step):
    assert_hypotheses_see_their_own_past(small_model(**variant), tokens_a_step)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_selected_rows_go_on_as_if_they_had_always_been_there(variant):
    assert_selected_rows_continue(small_model(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_parameter_learns(variant):
    assert_every_parameter_learns(small_model(**variant))


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_padding_in_front_changes_no_gradient(cell):
    model = small_model(cell=cell, layers=2)
    tokens = random_tokens(1, 5)
    padded, token_mask = padded_in_front(torch.cat((random_tokens(1, 3, seed=1), tokens), 1), [5])
    parameters = list(model.parameters())
    found = torch.autograd.grad(model(padded, token_mask)[:, 3:].square().sum(), parameters)
    assert_close(found, torch.autograd.grad(model(tokens).square().sum(), parameters), atol=1e-7, rtol=1e-9)


def test_a_row_of_padding_alone_begins_with_what_follows():
    model = small_model(cell="lstm", layers=2)
    token_mask = torch.tensor([[True] * 3, [False] * 3])
    tokens, more = random_tokens(2, 3), random_tokens(2, 2, seed=1)
    with torch.no_grad():
        state = model.start()
        model.hidden_states(tokens, state, token_mask)
        assert_close(model.hidden_states(more, state)[1:], model.hidden_states(more[1:]), atol=1e-9, rtol=0)


def test_a_window_learns_from_itself_and_begins_where_the_last_one_ended():
    model = small_model(cell="lstm")
    first, second = random_tokens(2, 6).split(3, 1)
    state = model.start()
    model(first).square().sum().backward()
    alone = model.embedding.table.weight.grad.clone()
    model.zero_grad()
    model.project(model.hidden_states(first, state)).square().sum().backward()
    assert_close(model.embedding.table.weight.grad, alone)
    model.zero_grad()
    model.project(model.hidden_states(second, state)).square().sum().backward()  # the first one's graph is gone
    assert model.embedding.table.weight.grad.any()


def test_it_is_torch_s_own_network_with_its_own_head():
    model = small_model(cell="lstm", layers=2, embedding_width=12)
    theirs = nn.LSTM(12, 16, 2, batch_first=True).double()
    for number, layer in enumerate(model.layers):
        for name, weight in layer.fused.named_parameters():
            getattr(theirs, name.replace("l0", f"l{number}")).data.copy_(weight)
    tokens = random_tokens(2, 7)
    h, _ = theirs(model.embedding.table(tokens) * 12**0.5)
    expected = (h @ model.narrow.weight.T + model.narrow.bias) @ model.head.weight.T + model.head.bias
    assert_close(model(tokens), expected)


def test_the_table_is_shared_as_the_setting_says():
    for embeddings, widths in (("shared", {12}), ("separate", {12, 16})):
        model = small_model(embeddings=embeddings, embedding_width=12)
        assert {model.embedding.table.weight.size(1), model.head.weight.size(1)} == widths
        assert (model.narrow is None) == (embeddings == "separate")
    assert small_model().narrow is None and small_model().max_positions is None


def test_every_dropout_acts_in_training_and_only_there():
    assert_dropout_acts_in_training_only(small_model, ("dropout", "embedding_dropout"))

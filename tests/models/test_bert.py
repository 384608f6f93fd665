import pytest
import torch
from torch.testing import assert_close

from language import assert_dropout_acts_in_training_only, small_language_model
from regard.errors import DataError
from regard.models.base.settings import Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.nn.probes.probe import listening, probes
from small import random_tokens, sources

SCHEMES = ["learned", "sinusoidal", "rotary", "alibi", "relative", "index", "none"]
VARIANTS = [
    *({"positions": scheme} for scheme in SCHEMES),
    {"norm_order": "pre"},
    {"norm_order": "res-post", "key_value_heads": 2},
    {"norm": "rms", "activation": "swiglu", "has_bias": False, "segments": 3},
]
LENGTHS = [7, 1, 5, 7, 2]


def small_bert(**changes):
    sizes = {"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2, "max_positions": 16}
    return small_language_model(BertSettings(**(sizes | changes)))


def segments_for(tokens):
    return (torch.arange(tokens.size(1)) >= 3).long().expand_as(tokens)


def laid_end_to_end(lengths):
    """Return padded tokens with their segments, and the same end to end with positions and bounds."""
    tokens, token_mask = sources(lengths)
    segments = segments_for(tokens)
    positions = torch.arange(max(lengths)).expand_as(tokens)
    bounds = torch.tensor([0, *lengths]).cumsum(0).int()
    return (tokens, segments, token_mask), (
        tokens[token_mask],
        segments[token_mask],
        positions[token_mask],
        bounds,
        max(lengths),
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_token_is_seen_by_every_other(variant):
    model, tokens = small_bert(**variant), random_tokens(1, 6)
    with torch.no_grad():
        before = model.hidden_states(tokens)
        for place in range(6):
            changed = tokens.clone()
            changed[0, place] = (changed[0, place] + 1) % 40
            assert ((model.hidden_states(changed) - before).abs().amax(-1) > 1e-5).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_batch_with_padding_gives_what_each_text_gives_alone(variant):
    model = small_bert(**variant)
    (tokens, segments, token_mask), _ = laid_end_to_end(LENGTHS)
    other = torch.where(token_mask, tokens, random_tokens(*tokens.shape, seed=9))
    with torch.no_grad():
        found = model.hidden_states(tokens, segments, token_mask)
        assert torch.equal(found[token_mask], model.hidden_states(other, segments, token_mask)[token_mask])
        for row, length in enumerate(LENGTHS):
            alone = model.hidden_states(tokens[row : row + 1, :length], segments[row : row + 1, :length])
            assert_close(found[row : row + 1, :length], alone, atol=1e-9, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("lengths", [LENGTHS, [6, 6, 6], [1], [0, 3, 0, 5, 0]], ids=str)
def test_reading_end_to_end_equals_reading_row_by_row(variant, lengths):
    model = small_bert(**variant)
    (tokens, segments, _), packed = laid_end_to_end(lengths)
    with torch.no_grad():
        flat = model.hidden_states_varlen(*packed)
        for row, length in enumerate(lengths):
            alone = model.hidden_states(tokens[row, None, :length], segments[row, None, :length])[0]
            begin = int(packed[3][row])
            assert_close(flat[begin : begin + length], alone, atol=1e-9, rtol=0)
        assert_close(model.hidden_states_varlen(*packed[:-1], max(lengths) + 2), flat, atol=1e-9, rtol=0)


@pytest.mark.parametrize("lengths", [LENGTHS, [6, 6, 6], [0, 3, 0, 5, 0]], ids=str)
def test_gradients_end_to_end_are_those_row_by_row(lengths):
    model = small_bert(dropout=0.0, attention_dropout=0.0, embedding_dropout=0.0).train()
    (tokens, segments, token_mask), packed = laid_end_to_end(lengths)
    found = []
    for hidden in (
        lambda: model.hidden_states_varlen(*packed),
        lambda: model.hidden_states(tokens, segments, token_mask | (token_mask.sum(1) < 1)[:, None])[token_mask],
    ):
        model.zero_grad()
        model.project(hidden()).square().sum().backward()
        found.append([each.grad for each in model.parameters() if each.grad is not None])
    assert len(found[0]) == len(found[1]) > 20
    for one, other in zip(*found):
        assert one.isfinite().all()
        assert_close(one, other)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_listeners_see_attention_and_change_nothing(variant, is_packed):
    model = small_bert(**variant)
    padded, packed = laid_end_to_end(LENGTHS)
    run = (
        (lambda: model.hidden_states_varlen(*packed))
        if is_packed
        else (lambda: model.hidden_states(*padded)[padded[2]])
    )
    found = {name: probe for name, probe in probes(model).items() if name.endswith(".weights")}
    assert list(found) == [f"blocks.{number}.attention.weights" for number in range(2)]
    seen = []
    with torch.no_grad():
        with listening(dict.fromkeys(found.values(), seen.append)):
            heard = run()
        assert_close(heard, run(), atol=1e-9, rtol=0)
    for weights in seen:
        assert weights.shape == (5, 4, 7, 7)
        assert_close(weights.sum(-1), torch.ones(5, 4, 7, dtype=torch.double))
        assert not weights[1, :, :, 1:].any() and not weights[4, :, :, 2:].any() and (weights[0] > 0).all()


def test_every_layer_can_be_heard():
    model, tokens = small_bert(norm_order="pre"), random_tokens(2, 5)
    seen = {}
    wanted = {each: probe for each, probe in probes(model).items() if each == "embedded" or "hidden" in each}
    assert list(wanted) == ["embedded", "hidden.0", "hidden.1"]
    with (
        torch.no_grad(),
        listening({probe: lambda x, each=each: seen.update({each: x}) for each, probe in wanted.items()}),
    ):
        last = model.hidden_states(tokens)
    assert_close(model.finish(seen["hidden.1"]), last)
    assert not torch.allclose(model.finish(seen["hidden.0"]), last)


def test_segments_make_a_difference_and_unset_are_the_first():
    model, tokens = small_bert(), random_tokens(2, 5)
    with torch.no_grad():
        found = model.hidden_states(tokens)
        assert_close(found, model.hidden_states(tokens, torch.zeros_like(tokens)))
        assert (found - model.hidden_states(tokens, segments_for(tokens))).abs().max() > 1e-3


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_parameter_learns(variant):
    model, tokens = small_bert(**variant).train(), random_tokens(2, 6)
    hidden = model.hidden_states(tokens, segments_for(tokens))
    following = model.next_sentence(model.pool(hidden[:, 0]))
    (model.project(hidden).square().sum() + following.square().sum()).backward()
    still = [name for name, each in model.named_parameters() if each.grad is None or not each.grad.any()]
    assert not still


def test_the_head_for_the_next_sentence_is_there_as_the_setting_says():
    assert small_bert(next_sentence_head=False).next_sentence is None
    assert small_bert().next_sentence.out_features == 2


def test_weights_start_as_the_authors_draw_them():
    torch.manual_seed(0)
    model = build_model(BertSettings(width=128, heads=2, feed_forward_width=512), Vocabularies(500, 500, True))
    for name, weight in model.named_parameters():
        if weight.dim() == 2 and weight.size(0) > 2:
            assert weight.std().item() == pytest.approx(0.02, rel=0.03), name
        elif name.endswith("bias"):
            assert not weight.any(), name
    assert model.embedding.table.weight is model.head.weight


def test_going_past_the_last_position_is_refused():
    model = small_bert(max_positions=6)
    assert model.max_positions == 6
    sentence = "A sequence of 7 tokens goes past the 6 positions this model has learned"
    with pytest.raises(DataError, match=sentence):
        model.hidden_states(random_tokens(1, 7))
    with pytest.raises(DataError, match=sentence):
        model.hidden_states_varlen(*laid_end_to_end([7, 3])[1])


def test_every_dropout_acts_in_training_and_only_there():
    names = ("dropout", "attention_dropout", "embedding_dropout", "feed_forward_dropout")
    assert_dropout_acts_in_training_only(small_bert, names)

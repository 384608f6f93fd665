import pytest
import torch
from torch.testing import assert_close

from promises import (
    assert_causal,
    assert_hypotheses_see_their_own_past,
    assert_padding_changes_nothing,
    assert_steps_equal_the_whole,
    everything,
)
from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.transformer.model import Transformer
from small import VOCABULARY, random_tokens, small_settings, small_transformer

SCHEMES = ["sinusoidal", "learned", "rotary", "alibi", "relative", "index", "none"]
VARIANTS = [
    *({"positions": scheme} for scheme in SCHEMES),
    {"norm_order": "pre"},
    {"norm_order": "res-post", "norm": "rms"},
    {"activation": "swiglu", "has_bias": False},
    {"head_width": 8},
    {"key_value_heads": 2},
    {"key_value_heads": 1, "positions": "alibi"},
    {"has_output_bias": True},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_later_tokens_do_not_change_earlier_outputs(variant):
    assert_causal(small_transformer(**variant))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_padding_does_not_change_scores(variant):
    assert_padding_changes_nothing(small_transformer(**variant), 1e-4)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_decoding_with_a_cache_equals_decoding_without(variant):
    assert_steps_equal_the_whole(small_transformer(**variant))


def test_selected_rows_go_on_as_if_they_had_always_been_there():
    model = small_transformer()
    source, target = random_tokens(3, 6), random_tokens(3, 5, seed=1)
    token_mask = everything(3, 6)
    rows = torch.tensor([2, 0, 2])
    with torch.no_grad():
        memory, state = model.encode(source, token_mask), model.start()
        model.decode(target[:, :3], memory, state)
        memory, state = memory.select(rows), state.select(rows, rows)
        chosen = model.project(model.decode(target[rows, 3:], memory, state))
        whole = model(source, token_mask, target)[rows, 3:]
    assert_close(chosen, whole, atol=1e-4, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("tokens_a_step", [1, 2])
def test_hypotheses_that_branch_and_swap_see_their_own_past_only(variant, tokens_a_step):
    assert_hypotheses_see_their_own_past(small_transformer(**variant), tokens_a_step)


@pytest.mark.parametrize("embeddings, tables", [("shared", 1), ("target", 2), ("separate", 3)])
def test_embeddings_are_shared_as_the_setting_says(embeddings, tables):
    model = Transformer(small_settings(embeddings=embeddings), Vocabularies(VOCABULARY, VOCABULARY, True))
    found = {model.encoder.embedding.table.weight, model.decoder.embedding.table.weight, model.head.weight}
    assert len(found) == tables


def test_sharing_needs_one_vocabulary():
    with pytest.raises(ConfigError) as error:
        Transformer(small_settings(), Vocabularies(30, 40, False))
    assert str(error.value) == (
        'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, or '
        'model.embeddings="target".'
    )
    Transformer(small_settings(embeddings="target"), Vocabularies(30, 40, False))


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="heads: 3 does not divide width 16; choose another, or set head_width"):
        small_settings(heads=3)


def test_key_value_heads_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(
        ValueError, match="key_value_heads: 3 does not divide heads 4; each must serve as many of them"
    ):
        small_settings(key_value_heads=3)


def test_embeddings_are_scaled_by_the_root_of_the_width():
    scaled, plain = (small_transformer(scales_embeddings=flag, positions="none") for flag in (True, False))
    tokens, places = random_tokens(1, 3), torch.arange(3)
    assert_close(scaled.encoder.embedding(tokens, places), 4 * plain.encoder.embedding(tokens, places))


def test_every_dropout_acts_in_training_and_only_there():
    for name in ("dropout", "attention_dropout", "embedding_dropout", "feed_forward_dropout"):
        none = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout", "feed_forward_dropout"), 0.0)
        model = small_transformer(**(none | {name: 0.5}))
        source, target = random_tokens(2, 6), random_tokens(2, 5, seed=1)
        with torch.no_grad():
            calm = model(source, everything(2, 6), target)
            assert torch.equal(model(source, everything(2, 6), target), calm)
            assert not torch.allclose(model.train()(source, everything(2, 6), target), calm), name

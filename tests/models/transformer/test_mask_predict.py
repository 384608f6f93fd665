"""A model that fills in masked words: who sees whom, and how long the target is."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing import assert_close

from promises import everything
from regard.config.resolve import Layer, resolve
from regard.errors import ConfigError
from regard.models.base.protocols import is_conditional_masked
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.transformer.mask_predict import MaskPredictSettings
from small import VOCABULARY, random_tokens, small_mask_predict, small_transformer

POSITIONS = ["sinusoidal", "learned", "index"]


def test_it_keeps_its_protocol_and_others_do_not():
    assert is_conditional_masked(small_mask_predict())
    assert not is_conditional_masked(small_transformer())


def test_every_word_sees_every_other():
    model, source, target = small_mask_predict(), random_tokens(1, 6), random_tokens(1, 7, seed=1)
    with torch.no_grad():
        before = model(source, everything(1, 6), target, everything(1, 7))
        for place in range(7):
            changed = target.clone()
            changed[0, place] = 4 + (target[0, place] - 3) % 30
            after = model(source, everything(1, 6), changed, everything(1, 7))
            assert ((before - after).abs().amax(-1) > 1e-5).all()


@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_changes_nothing(positions):
    model = small_mask_predict(positions=positions)
    source, target = random_tokens(1, 5), random_tokens(1, 4, seed=1)
    wider = torch.cat((source, random_tokens(1, 3, seed=2)), 1)  # whatever stands in the padding
    longer = torch.cat((target, random_tokens(1, 2, seed=3)), 1)
    token_mask, target_mask = torch.arange(8)[None] < 5, torch.arange(6)[None] < 4
    with torch.no_grad():
        assert_close(
            model(wider, token_mask, longer, target_mask)[:, :4],
            model(source, everything(1, 5), target, everything(1, 4)),
            atol=1e-5,
            rtol=0,
        )
        lengths = [
            model.length_scores(model.encode(*each)) for each in ((wider, token_mask), (source, everything(1, 5)))
        ]
    assert_close(*lengths, atol=1e-5, rtol=0)


def test_the_length_is_told_from_the_whole_source():
    model, source = small_mask_predict(), random_tokens(2, 6)
    changed = source.clone()
    changed[:, 0] = 5
    with torch.no_grad():
        scores = [model.length_scores(model.encode(each, everything(2, 6))) for each in (source, changed)]
    assert scores[0].shape == (2, 11) and (scores[0] - scores[1]).abs().min() > 0


def test_a_memory_made_ready_serves_every_pass():
    model, source, token_mask = small_mask_predict(), random_tokens(2, 6), torch.arange(6) < torch.tensor([[6], [4]])
    target, rows = random_tokens(4, 5, seed=1), torch.tensor([0, 0, 1, 1])
    with torch.no_grad():
        memory = model.encode(source, token_mask)
        plain = model.decode(target, memory.select(rows), everything(4, 5))
        ready = model.decode(target, model.ready(memory).select(rows), everything(4, 5))
    assert_close(ready, plain, atol=1e-5, rtol=0)


def test_positions_that_leave_masked_words_alike_are_refused():
    with pytest.raises(ConfigError) as error:
        resolve(MaskPredictSettings, [Layer("a recipe", {"positions": "rotary"})])
    assert str(error.value) == (
        "positions: \"rotary\" is not one of 'sinusoidal', 'learned' or 'index' (from a recipe)."
    )


def test_mixed_precision_fits_and_nothing_depends_on_values():
    """Without values there is nothing to wait for on a GPU, and no shape that they could change in a recording."""
    with FakeTensorMode():
        settings = MaskPredictSettings(width=16, heads=4, feed_forward_width=32, encoder_layers=1, decoder_layers=1)
        model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).train()
        source, target = torch.zeros(2, 6, dtype=torch.long), torch.zeros(2, 5, dtype=torch.long)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            memory = model.encode(source, everything(2, 6))
            logits = model.project(model.decode(target, memory, everything(2, 5)))
            lengths = model.length_scores(memory)
        (logits.float().sum() + lengths.float().sum()).backward()
    assert logits.dtype == torch.bfloat16 and all(each.grad is not None for each in model.parameters())

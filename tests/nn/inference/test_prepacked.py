import pytest
import torch
from torch.testing import assert_close

from regard.nn.inference.prepacked import can_pack, drop_prepacked, packed
from small import random_tokens, small_transformer

pytestmark = pytest.mark.skipif(not can_pack(), reason="this build of torch does not pack weights")


def logits(model):
    source, target = random_tokens(3, 6), random_tokens(3, 5, seed=1)
    with torch.inference_mode():
        return model(source, torch.ones_like(source, dtype=torch.bool), target)


@pytest.mark.parametrize("variant", [{}, {"has_bias": False, "activation": "swiglu"}])
def test_packed_weights_give_the_same_products(variant):
    model = small_transformer(**variant)
    plain = logits(model)
    with packed(model):
        assert model.head.packed is not None and model.decoder.blocks[0].cross.query.packed is not None
        assert_close(logits(model), plain, atol=1e-5, rtol=0)
    assert model.head.packed is None and model.decoder.blocks[0].cross.query.packed is None
    assert torch.equal(logits(model), plain)
    assert not any("packed" in name for name in model.state_dict())


def test_a_single_row_has_weights_of_its_own():
    model = small_transformer()
    inner, outer = model.decoder.blocks[0].feed_forward.inner, model.decoder.blocks[0].feed_forward.outer
    for layer in (inner, outer, model.head):
        for rows in (1, 2):
            x = torch.randn(rows, 1, layer.weight.size(1))
            with torch.inference_mode():
                plain = layer(x)
                with packed(model, has_single_rows=True):
                    assert layer.packed is not None and layer.single is not None
                    assert_close(layer(x), plain, atol=1e-5, rtol=0)
    with packed(model, has_single_rows=True):
        assert inner.single.T.is_contiguous() and outer.single.is_contiguous()  # more outputs than inputs, and less
    with packed(model):
        assert inner.single is None
    assert inner.single is None and inner.packed is None
    with torch.no_grad():
        inner.weight.mul_(2)
    with packed(model, has_single_rows=True):
        assert_close(inner.single, inner.weight.detach())


def test_weights_that_changed_are_packed_again():
    model = small_transformer()
    with packed(model):
        before = logits(model)
        kept = model.head.packed
    with packed(model):
        assert model.head.packed is kept
    with torch.no_grad():
        model.decoder.blocks[0].feed_forward.outer.weight.mul_(2)
    with packed(model):
        after = logits(model)
    assert not torch.allclose(before, after, atol=1e-3)
    assert_close(after, logits(model), atol=1e-5, rtol=0)
    model.head.weight.data.mul_(2)  # this leaves no trace in the tensor's version ...
    drop_prepacked(model)  # ... so who may have done it says so
    with packed(model):
        assert_close(logits(model), logits(small_copy(model)), atol=1e-5, rtol=0)


def small_copy(model):
    copy = small_transformer()
    copy.load_state_dict(model.state_dict())
    return copy


def test_other_numbers_than_fp32_are_left_alone():
    model = small_transformer().double()
    with packed(model):
        assert model.head.packed is None

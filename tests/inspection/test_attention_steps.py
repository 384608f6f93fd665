"""Every stage follows from those before it, and the last ones are what the probes and the block give."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from generators import small_model
from regard.errors import ConfigError
from regard.inspection.attention_steps import record_steps
from regard.inspection.record import recording
from small import random_tokens, small_transformer


def passing(model, source, target):
    return lambda: model.decode(target, model.encode(source, torch.ones_like(source, dtype=torch.bool)))


@pytest.mark.parametrize("order", ["post", "pre", "res-post"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_stage_follows_from_the_one_before(order, kind):
    model = small_transformer(norm_order=order).eval()
    source, target = random_tokens(1, 6), random_tokens(1, 4)
    run = passing(model, source, target)
    steps = record_steps(model, kind, 1, run)
    side = "encoder" if kind == "encoder" else "decoder"
    name = "cross" if kind == "cross" else "attention"
    path = f"{side}.blocks.1.{name}"
    with torch.inference_mode(), recording(model, ["*.weights", "*.heads"]) as arrays:
        run()
    attention = model.get_submodule(path)
    assert_close(steps.weights, torch.from_numpy(arrays[f"{path}.weights"]), atol=1e-5, rtol=1e-5)
    assert_close(steps.heads, torch.from_numpy(arrays[f"{path}.heads"]), atol=1e-5, rtol=1e-5)
    assert_close(steps.products, steps.query @ steps.key.mT, atol=1e-5, rtol=1e-5)
    assert_close(steps.scores, steps.products / attention.head_width**0.5, atol=1e-5, rtol=1e-5)
    assert_close(steps.masked.softmax(-1), steps.weights, atol=1e-5, rtol=1e-5)
    assert_close(steps.weights @ steps.value, steps.heads, atol=1e-5, rtol=1e-5)
    joined = steps.heads.transpose(0, 1).flatten(1)
    with torch.inference_mode():
        assert_close(F.linear(joined, attention.output.weight, attention.output.bias), steps.output)
    block = model.get_submodule(path.rpartition(".")[0])
    norm = getattr(block, f"around_{name}").norm
    with torch.inference_mode():
        expected = {
            "post": lambda: norm(steps.given + steps.output),
            "pre": lambda: steps.given + steps.output,
            "res-post": lambda: steps.given + norm(steps.output),
        }[order]()
    assert_close(steps.attended, expected.float(), atol=1e-5, rtol=1e-5)
    assert (steps.mask is not None) == (kind == "decoder") and (steps.normed is not None) == (order == "pre")
    assert steps.result.shape == steps.given.shape


def test_embeddings_and_positions_add_up_to_the_input_of_the_first_block():
    model = small_transformer(positions="sinusoidal").eval()
    run = passing(model, random_tokens(1, 6), random_tokens(1, 4))
    steps = record_steps(model, "encoder", 0, run)
    assert steps.positions is not None
    assert_close(steps.embedded + steps.positions, steps.given, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["gpt", "rotary", "alibi"])
def test_language_models_have_the_same_stages_whatever_their_positions(name):
    model, tokens = small_model(name).eval(), random_tokens(1, 6)
    steps = record_steps(model, "self", 1, lambda: model.hidden_states(tokens))
    assert_close(steps.masked.softmax(-1), steps.weights, atol=1e-5, rtol=1e-5)
    assert_close(steps.weights @ steps.value, steps.heads, atol=1e-5, rtol=1e-5)


def test_a_layer_that_is_not_there_is_refused():
    model = small_transformer()
    with pytest.raises(ConfigError, match="no self attention in layer 0"):
        record_steps(model, "self", 0, lambda: None)

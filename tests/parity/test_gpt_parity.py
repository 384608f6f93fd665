"""The same weights in Hugging Face's GPT and GPT-2 give the same logits; the presets have the same parameters."""

import pytest
import torch
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.nn.attention.kv_cache import KeyValueCache
from regard.runs.planning.plan import preset_parameters
from small import VOCABULARY, random_tokens

LAYERS = {
    "attn.c_attn": "attention.query_key_value",
    "attn.c_proj": "attention.output",
    "mlp.c_fc": "feed_forward.inner",
    "mlp.c_proj": "feed_forward.outer",
    "ln_1": "around_attention.norm",
    "ln_2": "around_feed_forward.norm",
}
"""Their layers of a block and ours."""


def reference(kind, **sizes):
    """Return their model, and their names of its tables and their blocks."""
    import transformers

    if kind == "gpt":
        config = transformers.OpenAIGPTConfig(**sizes)
        return transformers.OpenAIGPTLMHeadModel(config), ("tokens_embed", "positions_embed")
    config = transformers.GPT2Config(**sizes, attn_implementation="eager")
    return transformers.GPT2LMHeadModel(config), ("wte", "wpe")


@pytest.fixture(scope="module", params=["gpt", "gpt2"])
def both(request):
    torch.manual_seed(0)
    theirs, tables = reference(
        request.param, vocab_size=VOCABULARY, n_positions=12, n_embd=16, n_layer=2, n_head=4, initializer_range=0.3
    )
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)  # biases and norms too
    settings = GptSettings(
        width=16,
        heads=4,
        feed_forward_width=64,
        layers=2,
        max_positions=12,
        norm_order="post" if request.param == "gpt" else "pre",
    )
    ours = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    ours.load_state_dict(translated(theirs.transformer.state_dict(), tables, 2))
    return ours.eval(), theirs.eval()


def translated(theirs, tables, layers):
    """Return our weights for theirs; their products have inputs before outputs."""
    token, position = (theirs[f"{name}.weight"] for name in tables)
    ours = {"embedding.table.weight": token, "head.weight": token, "embedding.positions.table.weight": position}
    for number in range(layers):
        for their_name, our_name in LAYERS.items():
            for part in ("weight", "bias"):
                value = theirs[f"h.{number}.{their_name}.{part}"]
                ours[f"blocks.{number}.{our_name}.{part}"] = value.T if value.dim() == 2 else value
    for part in ("weight", "bias"):
        if f"ln_f.{part}" in theirs:
            ours[f"norm.{part}"] = theirs[f"ln_f.{part}"]
    return ours


def test_logits_are_equal(both):
    ours, theirs = both
    tokens = random_tokens(3, 12)
    with torch.no_grad():
        expected = theirs(input_ids=tokens).logits
        assert expected.std() > 0.5
        assert_close(ours(tokens), expected, atol=1e-4, rtol=0)
        state = ours.start()
        steps = [ours.project(ours.hidden_states(piece, state)) for piece in tokens.split([5, 1, 6], 1)]
    assert_close(torch.cat(steps, 1), expected, atol=1e-4, rtol=0)
    assert all(isinstance(cache, KeyValueCache) and cache.length == 12 for cache in state.caches)


def test_gradients_are_equal(both):
    ours, theirs = both
    tokens = random_tokens(2, 9)
    theirs(input_ids=tokens, labels=tokens).loss.backward()
    logits = ours(tokens)[:, :-1].flatten(0, 1)
    torch.nn.functional.cross_entropy(logits, tokens[:, 1:].flatten()).backward()
    block = theirs.transformer.h[0]
    assert_close(ours.head.weight.grad, theirs.lm_head.weight.grad, atol=1e-4, rtol=1e-3)
    packed = ours.blocks[0].attention.query_key_value.weight.grad
    assert_close(packed, block.attn.c_attn.weight.grad.T, atol=1e-4, rtol=1e-3)
    ours.zero_grad()


@pytest.mark.parametrize(
    "name, kind, sizes, parameters",
    [
        ("gpt", "gpt", {}, 116_534_784),
        ("gpt2", "gpt2", {}, 124_439_808),
        ("gpt2-medium", "gpt2", {"n_embd": 1024, "n_layer": 24, "n_head": 16}, 354_823_168),
        ("gpt2-large", "gpt2", {"n_embd": 1280, "n_layer": 36, "n_head": 20}, 774_030_080),
        ("gpt2-xl", "gpt2", {"n_embd": 1600, "n_layer": 48, "n_head": 25}, 1_557_611_200),
        ("gpt3-small", "gpt2", {"n_positions": 2048}, 125_226_240),
    ],
)
def test_presets_have_as_many_parameters_as_the_reference(name, kind, sizes, parameters):
    with torch.device("meta"):
        theirs, _ = reference(kind, **sizes)
    assert sum(parameter.numel() for parameter in theirs.parameters()) == parameters
    assert preset_parameters(name, theirs.config.vocab_size) == parameters

"""Names and layouts of a language model's weights, ours and those of `transformers`: one table for each form."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.interop.huggingface.causal_configs import LanguageForm
from regard.interop.huggingface.seq2seq_weights import Weights, pack, take
from regard.models.gpt.model import GptSettings

Packed = dict[str, tuple[str, ...]]
"""Layers of ours, and for each those of theirs that it packs, in order."""


@dataclass(frozen=True)
class Names:
    """What a form calls its parts, below the prefix that all but the output have."""

    prefix: str
    tokens: str
    positions: str | None
    block: str
    layers: Packed
    norm: str | None
    """Behind the last block; None where every block ends with one."""
    parts: tuple[str, ...] = ("weight", "bias")
    is_transposed: bool = False
    """Whether products have inputs before outputs, as OpenAI's code has them."""


OUTPUT = "lm_head.weight"

FIRST: Packed = {
    "attention.query_key_value": ("attn.c_attn",),
    "attention.output": ("attn.c_proj",),
    "around_attention.norm": ("ln_1",),
    "feed_forward.inner": ("mlp.c_fc",),
    "feed_forward.outer": ("mlp.c_proj",),
    "around_feed_forward.norm": ("ln_2",),
}
LLAMA: Packed = {
    "attention.query_key_value": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention.output": ("self_attn.o_proj",),
    "around_attention.norm": ("input_layernorm",),
    "feed_forward.inner": ("mlp.gate_proj", "mlp.up_proj"),
    "feed_forward.outer": ("mlp.down_proj",),
    "around_feed_forward.norm": ("post_attention_layernorm",),
}

NAMES = {
    "gpt2": Names("transformer.", "wte", "wpe", "h", FIRST, "ln_f", is_transposed=True),
    "openai-gpt": Names("transformer.", "tokens_embed", "positions_embed", "h", FIRST, None, is_transposed=True),
    "llama": Names("model.", "embed_tokens", None, "layers", LLAMA, "norm", ("weight",)),
}


def _layers(settings: GptSettings, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every layer of ours, and those of theirs that it packs, tables of tokens and positions apart."""
    for number in range(settings.layers):
        for ours, theirs in names.layers.items():
            yield f"blocks.{number}.{ours}", tuple(f"{names.block}.{number}.{name}" for name in theirs)
    if names.norm is not None:
        yield "norm", (names.norm,)


def _tables(names: Names) -> Iterator[tuple[str, str]]:
    """Yield our names of the tables that stand below the prefix, and theirs."""
    yield "embedding.table.weight", f"{names.tokens}.weight"
    if names.positions is not None:
        yield "embedding.positions.table.weight", f"{names.positions}.weight"


def language_to_theirs(weights: Weights, settings: GptSettings, form: LanguageForm) -> Weights:
    """Return their tensors for the state dict of a model of ours; a table they tie stands there once."""
    names = NAMES[form.model_type]
    found = {theirs: weights[ours] for ours, theirs in _tables(names)}
    for ours, theirs in _layers(settings, names):
        for part in names.parts:
            # Ours may have no bias where theirs must.
            value = weights.get(f"{ours}.{part}", torch.zeros(weights[f"{ours}.weight"].size(0)))
            sizes = _sizes(settings, theirs, len(value))
            for name, one in zip(theirs, value.split(sizes), strict=True):
                found[f"{name}.{part}"] = one.T if names.is_transposed and one.dim() == 2 else one
    found = {names.prefix + name: value for name, value in found.items()}
    if settings.embeddings == "separate":
        found[OUTPUT] = weights["head.weight"]
    return {name: value.clone(memory_format=torch.contiguous_format) for name, value in found.items()}


def _sizes(settings: GptSettings, theirs: tuple[str, ...], length: int) -> list[int]:
    """Return how many rows each of the layers packed in one has: keys and values may be fewer than queries."""
    if len(theirs) == 3:
        return [heads * settings.width_of_head for heads in (settings.heads, settings.groups, settings.groups)]
    return [length // len(theirs)] * len(theirs)


def _turned(product: Tensor) -> Tensor:
    return product.T if product.dim() == 2 else product


def language_to_ours(tensors: Weights, settings: GptSettings, form: LanguageForm, where: str) -> Weights:
    """Return our weights for their tensors, saved with or without their prefix; a shared table has both its names."""
    names = NAMES[form.model_type]
    tensors = {name.removeprefix(names.prefix): value for name, value in tensors.items()}
    is_shared = settings.embeddings == "shared"
    if is_shared and OUTPUT in tensors:  # one table, saved under either of its names
        tensors.setdefault(f"{names.tokens}.weight", tensors[OUTPUT])
    found = {ours: take(tensors, theirs, where) for ours, theirs in _tables(names)}
    for ours, theirs in _layers(settings, names):
        for part in names.parts:
            found[f"{ours}.{part}"] = pack(tensors, theirs, part, where, _turned if names.is_transposed else None)
    found["head.weight"] = found["embedding.table.weight"] if is_shared else take(tensors, OUTPUT, where)
    return found

"""Weight names and layouts of causal LMs, regard's and those of `transformers`: one table per architecture."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.interop.huggingface.causal_configs import CausalArchitecture
from regard.interop.huggingface.seq2seq_weights import Weights, pack, take
from regard.models.gpt.model import GptSettings

Packed = dict[str, tuple[str, ...]]
"""Layers of regard, and for each the Hugging Face layers that it packs, in order."""


@dataclass(frozen=True)
class Names:
    """Names of an architecture's modules, below the prefix that all but the output layer have."""

    prefix: str
    tokens: str
    positions: str | None
    block: str
    layers: Packed
    norm: str | None
    """Norm after the last block; None where every block ends with one."""
    parts: tuple[str, ...] = ("weight", "bias")
    is_transposed: bool = False
    """Linear weights are stored (inputs, outputs), as OpenAI's Conv1D does."""


OUTPUT = "lm_head.weight"

GPT: Packed = {
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
    "gpt2": Names("transformer.", "wte", "wpe", "h", GPT, "ln_f", is_transposed=True),
    "openai-gpt": Names("transformer.", "tokens_embed", "positions_embed", "h", GPT, None, is_transposed=True),
    "llama": Names("model.", "embed_tokens", None, "layers", LLAMA, "norm", ("weight",)),
}


def _layers(settings: GptSettings, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every layer of regard with the Hugging Face layers that it packs, embedding matrices excluded."""
    for number in range(settings.layers):
        for ours, theirs in names.layers.items():
            yield f"blocks.{number}.{ours}", tuple(f"{names.block}.{number}.{name}" for name in theirs)
    if names.norm is not None:
        yield "norm", (names.norm,)


def _embeddings(names: Names) -> Iterator[tuple[str, str]]:
    """Yield regard's and Hugging Face's names of the embedding matrices."""
    yield "embedding.table.weight", f"{names.tokens}.weight"
    if names.positions is not None:
        yield "embedding.positions.table.weight", f"{names.positions}.weight"


def language_to_theirs(weights: Weights, settings: GptSettings, form: CausalArchitecture) -> Weights:
    """Return Hugging Face's tensors for the state dict of a model of regard; a tied matrix is written once."""
    names = NAMES[form.model_type]
    tensors = {theirs: weights[ours] for ours, theirs in _embeddings(names)}
    for ours, theirs in _layers(settings, names):
        for part in names.parts:
            # regard's layer may have no bias where Hugging Face's has one.
            value = weights.get(f"{ours}.{part}", torch.zeros(weights[f"{ours}.weight"].size(0)))
            sizes = _sizes(settings, theirs, len(value))
            for name, one in zip(theirs, value.split(sizes), strict=True):
                tensors[f"{name}.{part}"] = _transposed(one) if names.is_transposed else one
    tensors = {names.prefix + name: value for name, value in tensors.items()}
    if settings.embeddings == "separate":
        tensors[OUTPUT] = weights["head.weight"]
    return {name: value.clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}


def _sizes(settings: GptSettings, theirs: tuple[str, ...], length: int) -> list[int]:
    """Return the rows of each packed layer: keys and values may have fewer than queries."""
    if len(theirs) == 3:
        return [heads * settings.width_of_head for heads in (settings.heads, settings.groups, settings.groups)]
    return [length // len(theirs)] * len(theirs)


def _transposed(weight: Tensor) -> Tensor:
    return weight.T if weight.dim() == 2 else weight


def language_to_ours(tensors: Weights, settings: GptSettings, form: CausalArchitecture, where: str) -> Weights:
    """Return regard's weights for Hugging Face's tensors, with or without prefix; a tied matrix has both names."""
    names = NAMES[form.model_type]
    tensors = {name.removeprefix(names.prefix): value for name, value in tensors.items()}
    is_shared = settings.embeddings == "shared"
    if is_shared and OUTPUT in tensors:  # one matrix, saved under either of its names
        tensors.setdefault(f"{names.tokens}.weight", tensors[OUTPUT])
    weights = {ours: take(tensors, theirs, where) for ours, theirs in _embeddings(names)}
    for ours, theirs in _layers(settings, names):
        for part in names.parts:
            weights[f"{ours}.{part}"] = pack(
                tensors, theirs, part, where, _transposed if names.is_transposed else None
            )
    weights["head.weight"] = weights["embedding.table.weight"] if is_shared else take(tensors, OUTPUT, where)
    return weights

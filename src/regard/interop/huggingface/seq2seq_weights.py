"""Weight names and layouts of encoder-decoders, regard's and those of `transformers`, in one table."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from regard.errors import CheckpointError
from regard.interop.huggingface.seq2seq_configs import Form
from regard.models.transformer.model import TransformerSettings
from regard.nn.layers.positions import sinusoids

Weights = dict[str, Tensor]


class WeightNames(NamedTuple):
    """A layer of regard, the Hugging Face layers that it packs, and the side with the model's features."""

    ours: str
    theirs: tuple[str, ...]
    features: Literal["in", "out"]


ATTENTION = (
    WeightNames("attention.query_key_value", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "in"),
    WeightNames("attention.output", ("self_attn.out_proj",), "out"),
    WeightNames("around_attention.norm", ("self_attn_layer_norm",), "out"),
)
CROSS = (
    WeightNames("cross.query", ("encoder_attn.q_proj",), "in"),
    WeightNames("cross.key_value", ("encoder_attn.k_proj", "encoder_attn.v_proj"), "in"),
    WeightNames("cross.output", ("encoder_attn.out_proj",), "out"),
    WeightNames("around_cross.norm", ("encoder_attn_layer_norm",), "out"),
)
FEED_FORWARD = (
    WeightNames("feed_forward.inner", ("fc1",), "in"),
    WeightNames("feed_forward.outer", ("fc2",), "out"),
    WeightNames("around_feed_forward.norm", ("final_layer_norm",), "out"),
)
BLOCKS = {"encoder": ATTENTION + FEED_FORWARD, "decoder": ATTENTION + CROSS + FEED_FORWARD}

LAST_NORM = WeightNames("norm", ("layer_norm",), "out")
"""Norm after the last block of a pre-norm model."""

SHARED = "model.shared.weight"
TABLES = {
    "source": ("encoder.embedding.table.weight", "model.encoder.embed_tokens.weight"),
    "target": ("decoder.embedding.table.weight", "model.decoder.embed_tokens.weight"),
    "output": ("head.weight", "lm_head.weight"),
}
"""Embedding matrices by role: regard's name and Hugging Face's."""

OUTPUT_BIAS = ("head.bias", "final_logits_bias")

READ = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
"""Supported dtypes; others are quantized, or not weights."""


def layers(settings: TransformerSettings) -> Iterator[WeightNames]:
    """Yield every layer of a model that has a weight and a bias."""
    for stack, count in (("encoder", settings.encoder_layers), ("decoder", settings.decoder_layers)):
        for number in range(count):
            for layer in BLOCKS[stack]:
                names = tuple(f"model.{stack}.layers.{number}.{name}" for name in layer.theirs)
                yield WeightNames(f"{stack}.blocks.{number}.{layer.ours}", names, layer.features)
        if settings.norm_order == "pre":
            yield WeightNames(f"{stack}.{LAST_NORM.ours}", (f"model.{stack}.layer_norm",), LAST_NORM.features)


def feature_order(settings: TransformerSettings) -> Tensor:
    """Return regard's feature index for each of Hugging Face's (D,): there, all sines precede all cosines.

    Only sinusoidal positions distinguish features, so the whole model may be written in another order.
    """
    indices = torch.arange(settings.width)
    return torch.cat((indices[::2], indices[1::2])) if settings.positions == "sinusoidal" else indices


def to_theirs(weights: Weights, settings: TransformerSettings, form: Form, positions: int) -> Weights:
    """Return Hugging Face's tensors for the state dict of a model of regard; tied matrices are written once."""
    order = feature_order(settings)
    tensors: Weights = {}
    for layer in layers(settings):
        weight = weights[f"{layer.ours}.weight"]
        bias = weights.get(f"{layer.ours}.bias", weight.new_zeros(weight.size(0)))  # optional in regard only
        if layer.features == "out":
            weight, bias = weight[order], bias[order]
        else:
            weight = weight[:, order]
        parts = len(layer.theirs)
        for name, one, other in zip(layer.theirs, weight.chunk(parts), bias.chunk(parts), strict=True):
            tensors |= {f"{name}.weight": one.clone(), f"{name}.bias": other.clone()}
    for stack in BLOCKS:
        table = weights.get(f"{stack}.embedding.positions.table.weight")
        waves = sinusoids(torch.arange(positions), settings.width)[:, order] if table is None else table
        tensors[f"model.{stack}.embed_positions.weight"] = waves.clone()
    return tensors | _embeddings_to_theirs(weights, settings, form, order)


def _embeddings_to_theirs(weights: Weights, settings: TransformerSettings, form: Form, order: Tensor) -> Weights:
    tables = {theirs: weights[ours][:, order] for ours, theirs in TABLES.values()}
    if settings.embeddings == "shared":
        tables = {SHARED: tables["lm_head.weight"]}
    elif not form.has_two_vocabularies:  # unused there, but its absence is reported
        tables[SHARED] = tables[TABLES["source"][1]].clone()
    elif settings.embeddings == "target":
        del tables[TABLES["output"][1]]
    ours, theirs = OUTPUT_BIAS
    bias = weights.get(ours, weights[TABLES["output"][0]].new_zeros(weights[TABLES["output"][0]].size(0)))
    return tables | {theirs: bias[None].clone()}


def to_ours(tensors: Weights, settings: TransformerSettings, where: str) -> Weights:
    """Return regard's weights for Hugging Face's tensors, without embedding matrices."""
    weights: Weights = {}
    for layer in layers(settings):
        weight, bias = (pack(tensors, layer.theirs, part, where) for part in ("weight", "bias"))
        if layer.features == "out":
            weight, bias = (
                _in_our_order(each, 0, settings, f"what becomes {layer.ours}", where) for each in (weight, bias)
            )
        else:
            weight = _in_our_order(weight, 1, settings, f"what becomes {layer.ours}", where)
        weights |= {f"{layer.ours}.weight": weight, f"{layer.ours}.bias": bias}
    for stack in BLOCKS:
        name = f"model.{stack}.embed_positions.weight"
        if settings.positions == "learned":
            weights[f"{stack}.embedding.positions.table.weight"] = take(tensors, name, where)
        elif name in tensors:
            _check_waves(_in_our_order(take(tensors, name, where), 1, settings, name, where), name, where)
    return weights


def _in_our_order(theirs: Tensor, axis: int, settings: TransformerSettings, name: str, where: str) -> Tensor:
    """Return a tensor with the model's features along an axis in regard's order."""
    if theirs.dim() not in (axis + 1, 2) or theirs.size(axis) != settings.width:
        raise CheckpointError(
            f"{where}: {name} has shape {tuple(theirs.shape)}, but config.json asks for a width (d_model) of "
            f"{settings.width:,}; copy it again."
        )
    return theirs.index_select(axis, feature_order(settings).argsort())


def _check_waves(table: Tensor, name: str, where: str) -> None:
    """Refuse position embeddings that are not sinusoidal."""
    if not torch.allclose(table, sinusoids(torch.arange(len(table)), table.size(1)), atol=1e-2):
        raise CheckpointError(f"{where}: {name} holds no sinusoidal positions, so the model cannot be read.")


def tables_of(tensors: Weights, config: dict[str, Any], settings: TransformerSettings, where: str) -> Weights:
    """Return the embedding matrices by role (source, target, output), with features in regard's order."""
    names = {role: theirs for role, (_, theirs) in TABLES.items()}
    if config.get("tie_word_embeddings", True):
        names["output"] = names["target"]
        if config.get("share_encoder_decoder_embeddings", True):  # one matrix, saved under any of its names
            saved = next((name for name in (SHARED, *names.values(), "lm_head.weight") if name in tensors), SHARED)
            names = dict.fromkeys(names, saved)
    return {role: _in_our_order(take(tensors, name, where), 1, settings, name, where) for role, name in names.items()}


def take(tensors: Weights, name: str, where: str) -> Tensor:
    """Return a tensor in fp32; one that is missing, quantized or a scalar is refused."""
    if name not in tensors:
        raise CheckpointError(f"{where}: {name} is missing, so the model is incomplete; copy it again.")
    tensor = tensors[name]
    if tensor.dtype not in READ:
        known = ", ".join(map(_shown, READ))
        raise CheckpointError(
            f"{where}: {name} is {_shown(tensor.dtype)}, and weights can be {known}; save it as one of them."
        )
    if tensor.dim() == 0:
        raise CheckpointError(f"{where}: {name} is a single number, not a tensor of a model; copy it again.")
    return tensor.float()


def _shown(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def pack(
    tensors: Weights, names: Sequence[str], part: str, where: str, change: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Return the weights (or biases) of several layers, each after `change`, concatenated."""
    parts = [take(tensors, f"{name}.{part}", where) for name in names]
    parts = parts if change is None else list(map(change, parts))
    for name, each in zip(names, parts, strict=True):
        if each.shape[1:] != parts[0].shape[1:]:
            raise CheckpointError(
                f"{where}: {name}.{part} has shape {tuple(each.shape)}, which does not match "
                f"{tuple(parts[0].shape)} of {names[0]}.{part}; copy it again."
            )
    return torch.cat(parts)

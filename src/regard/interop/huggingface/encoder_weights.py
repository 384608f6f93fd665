"""Weight names and layouts of text encoders, regard's and those of `transformers`."""

from collections.abc import Iterator

import torch

from regard.errors import CheckpointError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, NEXT_SENTENCE, POOLER
from regard.interop.huggingface.seq2seq_weights import Weights, pack, take
from regard.models.bert import BertSettings

PREFIX = "bert."
"""Prefix of the encoder's weights in a model with heads."""

TABLES = {
    "embedding.table.weight": "embeddings.word_embeddings.weight",
    "embedding.positions.table.weight": "embeddings.position_embeddings.weight",
    "embedding.segments.weight": "embeddings.token_type_embeddings.weight",
}
BLOCK = {
    "attention.query_key_value": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.output": ("attention.output.dense",),
    "around_attention.norm": ("attention.output.LayerNorm",),
    "feed_forward.inner": ("intermediate.dense",),
    "feed_forward.outer": ("output.dense",),
    "around_feed_forward.norm": ("output.LayerNorm",),
}
"""Layers of a block of regard, and for each the Hugging Face layers that it packs, in order."""

PARTS = {
    POOLER: {"pooler": "pooler.dense"},
    MASKED_WORDS: {
        "transform.dense": "cls.predictions.transform.dense",
        "transform.norm": "cls.predictions.transform.LayerNorm",
    },
    NEXT_SENTENCE: {"next_sentence": "cls.seq_relationship"},
}
"""Optional layers of regard, and Hugging Face's; the pooler is below the prefix."""

OUTPUT, OUTPUT_BIAS = "cls.predictions.decoder.weight", ("cls.predictions.bias", "cls.predictions.decoder.bias")
OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
"""Names in folders that were converted from TensorFlow checkpoints."""


def _layers(settings: BertSettings) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every layer of regard's encoder with the Hugging Face layers that it packs."""
    yield "embedding.norm", ("embeddings.LayerNorm",)
    for number in range(settings.layers):
        for ours, theirs in BLOCK.items():
            yield f"blocks.{number}.{ours}", tuple(f"encoder.layer.{number}.{name}" for name in theirs)


def encoder_to_theirs(
    weights: Weights, settings: BertSettings, parts: frozenset[str], has_head: bool = False
) -> Weights:
    """Return Hugging Face's tensors for regard's weights, with these parts; a tied matrix is written once.

    With a task head (`has_head`), the encoder has its prefix too.
    """
    tensors = {theirs: weights[ours] for ours, theirs in TABLES.items()}
    layers = [*_layers(settings), *(("pooler", ("pooler.dense",)) for _ in parts & {POOLER})]
    for ours, theirs in layers:
        for part in ("weight", "bias"):
            # regard's layer may have no bias where Hugging Face's has one.
            value = weights.get(f"{ours}.{part}", torch.zeros(weights[f"{ours}.weight"].size(0)))
            for name, one in zip(theirs, value.chunk(len(theirs)), strict=True):
                tensors[f"{name}.{part}"] = one
    heads = parts - {POOLER}
    if heads or has_head:
        tensors = {PREFIX + name: value for name, value in tensors.items()}
    for head in heads:
        for ours, name in PARTS[head].items():
            tensors |= {f"{name}.{part}": weights[f"{ours}.{part}"] for part in ("weight", "bias")}
    if MASKED_WORDS in heads:
        tensors[OUTPUT_BIAS[0]] = weights["head.bias"]
        if settings.embeddings == "separate":
            tensors |= {OUTPUT: weights["head.weight"], OUTPUT_BIAS[1]: weights["head.bias"]}
    return {name: value.clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}


def parts_in(tensors: Weights) -> frozenset[str]:
    """Return the optional parts whose weights a folder has."""
    names = {name.removeprefix(PREFIX) for name in tensors}
    return frozenset(part for part, layers in PARTS.items() if f"{next(iter(layers.values()))}.weight" in names)


def with_new_names(tensors: Weights) -> Weights:
    """Return tensors under current names, without the prefix."""
    renamed: Weights = {}
    for name, value in tensors.items():
        for old, new in OLD_NAMES.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name
        renamed[name.removeprefix(PREFIX)] = value
    return renamed


def encoder_to_ours(tensors: Weights, settings: BertSettings, parts: frozenset[str], where: str) -> Weights:
    """Return regard's weights for Hugging Face's tensors, with these parts; a tied matrix has both its names."""
    weights = {ours: take(tensors, theirs, where) for ours, theirs in TABLES.items()}
    heads = ((ours, (theirs,)) for part in sorted(parts) for ours, theirs in PARTS[part].items())
    for ours, theirs in (*_layers(settings), *heads):
        for part in ("weight", "bias"):
            weights[f"{ours}.{part}"] = pack(tensors, theirs, part, where)
    weights["head.weight"] = weights["embedding.table.weight"]
    if MASKED_WORDS in parts:
        # An untied output layer has its own bias, and the other is unused.
        names = OUTPUT_BIAS if settings.embeddings == "shared" else OUTPUT_BIAS[::-1]
        weights["head.bias"] = take(tensors, next((name for name in names if name in tensors), names[0]), where)
    if settings.embeddings == "separate":
        weights["head.weight"] = take(tensors, OUTPUT, where)
    elif OUTPUT in tensors and not torch.equal(take(tensors, OUTPUT, where), weights["head.weight"]):
        raise CheckpointError(
            f"{where}: {OUTPUT} is not the embedding matrix, but tie_word_embeddings in "
            f"config.json is true; set it to false there, or copy the model again."
        )
    return weights

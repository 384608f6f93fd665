"""Names and layouts of a text encoder's weights, ours and those of `transformers`."""

from collections.abc import Iterator

import torch

from regard.errors import CheckpointError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, NEXT_SENTENCE, POOLER
from regard.interop.huggingface.seq2seq_weights import Weights, pack, take
from regard.models.bert import BertSettings

PREFIX = "bert."
"""Before the names of the body's weights, where it has heads."""

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
"""Layers of ours in a block, and for each those of theirs that it packs, in order."""

PARTS = {
    POOLER: {"pooler": "pooler.dense"},
    MASKED_WORDS: {
        "transform.dense": "cls.predictions.transform.dense",
        "transform.norm": "cls.predictions.transform.LayerNorm",
    },
    NEXT_SENTENCE: {"next_sentence": "cls.seq_relationship"},
}
"""Layers of ours that a folder may have or not, and theirs; the pooler stands below the prefix."""

OUTPUT, OUTPUT_BIAS = "cls.predictions.decoder.weight", ("cls.predictions.bias", "cls.predictions.decoder.bias")
OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
"""As they stand in folders that were made from the authors' own."""


def _layers(settings: BertSettings) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every layer of our body, and those of theirs that it packs."""
    yield "embedding.norm", ("embeddings.LayerNorm",)
    for number in range(settings.layers):
        for ours, theirs in BLOCK.items():
            yield f"blocks.{number}.{ours}", tuple(f"encoder.layer.{number}.{name}" for name in theirs)


def encoder_to_theirs(
    weights: Weights, settings: BertSettings, parts: frozenset[str], has_head: bool = False
) -> Weights:
    """Return their tensors for the weights of a model of ours, with these of its parts; a shared table stands once.

    Where there is a head of another kind above it, the body has its prefix too.
    """
    found = {theirs: weights[ours] for ours, theirs in TABLES.items()}
    layers = [*_layers(settings), *(("pooler", ("pooler.dense",)) for _ in parts & {POOLER})]
    for ours, theirs in layers:
        for part in ("weight", "bias"):
            # Ours may have no bias where theirs must.
            value = weights.get(f"{ours}.{part}", torch.zeros(weights[f"{ours}.weight"].size(0)))
            for name, one in zip(theirs, value.chunk(len(theirs)), strict=True):
                found[f"{name}.{part}"] = one
    heads = parts - {POOLER}
    if heads or has_head:
        found = {PREFIX + name: value for name, value in found.items()}
    for head in heads:
        for ours, name in PARTS[head].items():
            found |= {f"{name}.{part}": weights[f"{ours}.{part}"] for part in ("weight", "bias")}
    if MASKED_WORDS in heads:
        found[OUTPUT_BIAS[0]] = weights["head.bias"]
        if settings.embeddings == "separate":
            found |= {OUTPUT: weights["head.weight"], OUTPUT_BIAS[1]: weights["head.bias"]}
    return {name: value.clone(memory_format=torch.contiguous_format) for name, value in found.items()}


def parts_in(tensors: Weights) -> frozenset[str]:
    """Return which heads a folder holds."""
    names = {name.removeprefix(PREFIX) for name in tensors}
    return frozenset(part for part, layers in PARTS.items() if f"{next(iter(layers.values()))}.weight" in names)


def with_new_names(tensors: Weights) -> Weights:
    """Return tensors under the names of today, without the prefix."""
    found: Weights = {}
    for name, value in tensors.items():
        for old, new in OLD_NAMES.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name
        found[name.removeprefix(PREFIX)] = value
    return found


def encoder_to_ours(tensors: Weights, settings: BertSettings, parts: frozenset[str], where: str) -> Weights:
    """Return our weights for their tensors, with these of the heads; the shared table has both its names."""
    found = {ours: take(tensors, theirs, where) for ours, theirs in TABLES.items()}
    heads = ((ours, (theirs,)) for part in sorted(parts) for ours, theirs in PARTS[part].items())
    for ours, theirs in (*_layers(settings), *heads):
        for part in ("weight", "bias"):
            found[f"{ours}.{part}"] = pack(tensors, theirs, part, where)
    found["head.weight"] = found["embedding.table.weight"]
    if MASKED_WORDS in parts:
        # A layer of its own has its own bias, and leaves the other unused.
        names = OUTPUT_BIAS if settings.embeddings == "shared" else OUTPUT_BIAS[::-1]
        found["head.bias"] = take(tensors, next((name for name in names if name in tensors), names[0]), where)
    if settings.embeddings == "separate":
        found["head.weight"] = take(tensors, OUTPUT, where)
    elif OUTPUT in tensors and not torch.equal(take(tensors, OUTPUT, where), found["head.weight"]):
        raise CheckpointError(
            f"{where}: {OUTPUT} is not the table of embeddings, but config.json says that it is "
            f"(tie_word_embeddings); say false there, or copy it again."
        )
    return found

"""An embedding matrix initialized from word vectors."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from regard.config.resolve import Layer
from regard.errors import ConfigError
from regard.nn.layers.embedding import TokenEmbedding
from regard.pipelines.word_vectors import WordVectors, load_word_vectors, names_word_vectors
from regard.progress import SILENT, Progress
from regard.tasks.settings import EmbeddingInitSettings
from regard.text.tokenizer import Tokenizer

GROUP = "vectors"
"""The group of settings on word vectors."""
SAMPLE_ROWS = 1000
"""Rows of word vectors that are read to detect lowercase and width."""
MARKS = ("▁", "Ġ")
"""Prefixes of a word's first token."""
TEXT = {"kind": "word", "size": 30_000, "min_frequency": 2}
"""The tokenizer of a model whose tokens are words."""


def embedding_layer(
    schema: Mapping[str, Any], base: Mapping[str, Any], values: dict[str, Any], changes: dict[str, Any]
) -> Layer | None:
    """Return the layer of settings that word vectors imply: words as tokens, and a width that fits.

    `schema` has the fields of the model's settings, `base` those of its preset. `init_from` becomes `vectors.path`.
    """
    origin = changes.get("init_from", values.get("init_from"))
    if origin is not None and names_word_vectors(str(origin)):
        for table in (changes, values):
            table.pop("init_from", None)
        changes[GROUP] = {**_table(changes, GROUP), "path": str(origin)}
    path = {**_table(values, GROUP), **_table(changes, GROUP)}.get("path")
    if not isinstance(path, str):  # anything else is refused as a setting
        return None
    values.pop("text", None)
    sample = load_word_vectors(path, SAMPLE_ROWS)
    is_lowercase = all(word == word.lower() for word in sample.words)
    sizes = _sizes(sample.width, schema, base)
    for name in ("width", "embedding_width"):
        given = _table(changes, "model").get(name)
        if name in sizes and given not in (None, sample.width):
            raise ConfigError(
                f"model.{name}: {given} is not the dimension {sample.width} of the vectors in {path}; leave it out."
            )
    return Layer(f"pretrained model {path}", {"text": TEXT | {"lowercase": is_lowercase}, "model": sizes})


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = values.get(name)
    return table if isinstance(table, Mapping) else {}


def _sizes(width: int, schema: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a model whose token embeddings have this width."""
    if "embedding_width" in schema:
        return {"embedding_width": width}
    sizes = {"width": width}
    if "heads" in schema:
        most = int(base.get("heads", schema["heads"].default))
        # Rotary positions rotate pairs of features, so a head's width is even where possible.
        fits = [heads for heads in range(1, most + 1) if width % (heads * (2 - width % 2)) == 0]
        sizes["heads"] = max(fits)
    if "feed_forward_width" in schema:
        sizes["feed_forward_width"] = 4 * width
    return sizes


def fill_embeddings(
    model: nn.Module,
    tokenizers: Mapping[str, Tokenizer],
    settings: EmbeddingInitSettings,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Copy the vectors of the tokenizer's words into a model's embedding matrix, and return the facts.

    They are scaled to the standard deviation of the model's own initialization; the other rows are sampled with the
    same mean and standard deviation.
    """
    if settings.path is None:
        return {}
    vectors = load_word_vectors(settings.path, progress=progress)
    role = "tokenizer" if "tokenizer" in tokenizers else settings.side
    rows = _rows(tokenizers[role], vectors)
    if not rows:
        raise ConfigError(
            f"vectors.path: none of the words in {settings.path} is a token of this model; set text.kind=word."
        )
    for table in _tables(model, role):
        _fill(table, rows, vectors, settings.path)
    size = len(tokenizers[role].vocabulary)
    progress.info(
        f"{settings.path}: {len(rows):,} of the {size:,} tokens have a vector ({len(rows) / max(1, size):.1%}); the "
        f"others are random, and the embedding matrix {'is frozen' if settings.freeze else 'is trained'}."
    )
    return {GROUP: {"path": settings.path, "covered": len(rows), "tokens": size, "freeze": settings.freeze}}


def freeze_embeddings(model: nn.Module, tokenizers: Mapping[str, Tokenizer], settings: EmbeddingInitSettings) -> None:
    """Freeze an embedding matrix, where that is asked for; a resumed model needs it again."""
    if settings.path is not None and settings.freeze:
        for table in _tables(model, "tokenizer" if "tokenizer" in tokenizers else settings.side):
            table.weight.requires_grad_(False)


def _tables(model: nn.Module, role: str) -> list[nn.Embedding]:
    """Return the embedding matrices of a side's tokens, each once."""
    part = {"source": "encoder", "target": "decoder"}.get(role, "")
    tables = (
        module.table
        for name, module in model.named_modules()
        if isinstance(module, TokenEmbedding) and name.startswith(part)
    )
    return list({id(table.weight): table for table in tables}.values())


def _rows(tokenizer: Tokenizer, vectors: WordVectors) -> dict[int, int]:
    """Return the row of word vectors for each token that is a word with a vector."""
    rows = {}
    for token_id, token in tokenizer.vocabulary.items():
        word = token.lstrip("".join(MARKS))
        row = vectors.find(word) if word else None
        if row is not None:
            rows[token_id] = row
    return rows


@torch.no_grad()
def _fill(table: nn.Embedding, rows: dict[int, int], vectors: WordVectors, path: str) -> None:
    if table.embedding_dim != vectors.width:
        raise ConfigError(
            f"vectors.path: {path} has vectors of dimension {vectors.width}, but the model's embedding matrix "
            f"{table.embedding_dim}; leave out model.width (and model.embedding_width), which then follow."
        )
    weight = table.weight
    pretrained = torch.from_numpy(vectors.vectors[list(rows.values())])
    scale = float(weight.std()) / max(float(pretrained.std()), 1e-12)
    means, deviations = pretrained.mean(0), pretrained.std(0, correction=0)
    noise = torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(rows)))
    values = means + deviations * noise
    values[list(rows)] = pretrained
    weight.copy_(scale * values)

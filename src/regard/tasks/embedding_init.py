"""Word vectors as the table of tokens that a model begins with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.checkpoint.bundle import read_config
from regard.checkpoint.store import find_checkpoint
from regard.config.resolve import Layer
from regard.errors import CheckpointError, ConfigError
from regard.nn.layers.embedding import TokenEmbedding
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.tasks.embedding_settings import VectorTableSettings
from regard.tasks.load import load_word_vectors
from regard.text.tokenizer import Tokenizer

LOOKED_AT = 1000
"""Rows of a table that tell whether it knows capital letters."""
MARKS = ("▁", "Ġ")
"""What tokenizers put before a word."""
TEXT = {"kind": "word", "size": 30_000, "min_frequency": 2}
"""The tokenizer of a model whose tokens are to be words."""


def names_vectors(start: str) -> bool:
    """Tell whether a start is a table of word vectors: a file, or a run that learned one."""
    if start.startswith("hf:"):
        return False
    if Path(start).is_file():
        return True
    try:
        return bool(read_config(find_checkpoint(Path(start)))["task"] == "vectors")
    except (CheckpointError, KeyError):
        return False


def begin_with_vectors(
    schema: Mapping[str, Any], base: Mapping[str, Any], values: dict[str, Any], changes: dict[str, Any]
) -> Layer | None:
    """Return the layer of settings that a table brings along: words for tokens, and a width that fits.

    `schema` has the fields of the model's settings, `base` those of its preset. `start` becomes `vectors.path`.
    """
    start = changes.get("init_from", values.get("init_from"))
    if start is not None and names_vectors(str(start)):
        for named in (changes, values):
            named.pop("init_from", None)
        changes["vectors"] = {**_table(changes, "vectors"), "path": str(start)}
    path = {**_table(values, "vectors"), **_table(changes, "vectors")}.get("path")
    if not isinstance(path, str):  # what is given in its place is refused as a setting
        return None
    values.pop("text", None)
    some = load_word_vectors(path, LOOKED_AT)
    is_low = all(word == word.lower() for word in some.words)
    sizes = _sizes(some.width, schema, base)
    for name in ("width", "embedding_width"):
        given = _table(changes, "model").get(name)
        if name in sizes and given not in (None, some.width):
            raise ConfigError(
                f"model.{name}: {given} is not the {some.width} numbers that a word of {path} has; leave it out."
            )
    return Layer(f"start {path}", {"text": TEXT | {"lowercase": is_low}, "model": sizes})


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def _sizes(width: int, schema: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a model whose tokens have vectors of this width."""
    if "embedding_width" in schema:
        return {"embedding_width": width}
    found = {"width": width}
    if "heads" in schema:
        wanted = int(base.get("heads", schema["heads"].default))
        # Rotary positions turn pairs of features, so a head's width is even where that can be.
        fits = [heads for heads in range(1, wanted + 1) if width % (heads * (2 - width % 2)) == 0]
        found["heads"] = max(fits)
    if "feed_forward_width" in schema:
        found["feed_forward_width"] = 4 * width
    return found


def fill_tables(
    model: nn.Module, tokenizers: Mapping[str, Tokenizer], settings: VectorTableSettings, progress: Progress = SILENT
) -> dict[str, Any]:
    """Give a model's table the vectors of the words it knows, tell how many, and return the facts.

    All are scaled to be as spread out as the model's own were, and the table's other rows are drawn like them.
    """
    if settings.path is None:
        return {}
    vectors = load_word_vectors(settings.path, progress=progress)
    role = "tokenizer" if "tokenizer" in tokenizers else settings.side
    rows = _rows(tokenizers[role], vectors)
    if not rows:
        raise ConfigError(
            f"vectors.path: none of the words in {settings.path} is a token of this model; say text.kind=word."
        )
    for table in _tables(model, role):
        _fill(table, rows, vectors, settings.path)
    size = len(tokenizers[role].vocabulary)
    progress.say(
        f"{settings.path}: {len(rows):,} of the {size:,} tokens have a vector ({len(rows) / max(1, size):.1%}); the "
        f"others begin with drawn ones, and the table {'stays as it is' if settings.freeze else 'is tuned'}."
    )
    return {"vectors": {"path": settings.path, "covered": len(rows), "tokens": size, "freeze": settings.freeze}}


def freeze_tables(model: nn.Module, tokenizers: Mapping[str, Tokenizer], settings: VectorTableSettings) -> None:
    """Keep a table as it is, where that is wanted; a resumed model needs it again."""
    if settings.path is not None and settings.freeze:
        for table in _tables(model, "tokenizer" if "tokenizer" in tokenizers else settings.side):
            table.weight.requires_grad_(False)


def _tables(model: nn.Module, role: str) -> list[nn.Embedding]:
    """Return the tables that tokens of a side are read by, each once."""
    part = {"source": "encoder", "target": "decoder"}.get(role, "")
    found = (
        module.table
        for name, module in model.named_modules()
        if isinstance(module, TokenEmbedding) and name.startswith(part)
    )
    return list({id(table.weight): table for table in found}.values())


def _rows(tokenizer: Tokenizer, vectors: WordVectors) -> dict[int, int]:
    """Return for each token that is a word with a vector the row of it."""
    found = {}
    for number, piece in tokenizer.vocabulary.items():
        word = piece.lstrip("".join(MARKS))
        row = vectors.find(word) if word else None
        if row is not None:
            found[number] = row
    return found


@torch.no_grad()
def _fill(table: nn.Embedding, rows: dict[int, int], vectors: WordVectors, path: str) -> None:
    if table.embedding_dim != vectors.width:
        raise ConfigError(
            f"vectors.path: {path} has {vectors.width} numbers a word, but the model's table has "
            f"{table.embedding_dim}; leave out model.width (and model.embedding_width), which then follow."
        )
    weight = table.weight
    known = torch.from_numpy(vectors.vectors[list(rows.values())])
    scale = float(weight.std()) / max(float(known.std()), 1e-12)
    means, spreads = known.mean(0), known.std(0, correction=0)
    drawn = means + spreads * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(rows)))
    drawn[list(rows)] = known
    weight.copy_(scale * drawn)

"""Embedding matrices of sequence-to-sequence models, shared between source, target and output or separate."""

from typing import Literal, NamedTuple

from torch import nn

from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.nn.layers.embedding import build_table

Sharing = Literal["shared", "target", "separate"]
"""shared: one matrix for source, target and output embeddings; target: for target and output; separate: three."""


class Tables(NamedTuple):
    """The embedding matrices of encoder input, decoder input and output projection, some of which may be shared."""

    source: nn.Embedding
    target: nn.Embedding
    output: nn.Embedding


def build_tables(sharing: Sharing, vocabularies: Vocabularies, width: int) -> Tables:
    """Return the embedding matrices, shared as requested."""
    if sharing == "shared" and not vocabularies.is_shared:
        raise ConfigError(
            'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, or '
            'model.embeddings="target".'
        )
    target = build_table(vocabularies.target, width)
    source = target if sharing == "shared" else build_table(vocabularies.source, width)
    output = target if sharing != "separate" else build_table(vocabularies.target, width)
    return Tables(source, target, output)

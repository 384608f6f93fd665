"""The tables of vectors of a model that reads one sequence and writes another."""

from typing import Literal, NamedTuple

from torch import nn

from regard.errors import ConfigError
from regard.models.base.protocols import Vocabularies
from regard.nn.layers.embedding import build_table

Sharing = Literal["shared", "target", "separate"]
"""One table for source, target and output; one for target and output; or three."""


class Tables(NamedTuple):
    """What the encoder reads by, what the decoder reads by, and what it says by; some may be one and the same."""

    source: nn.Embedding
    target: nn.Embedding
    output: nn.Embedding


def build_tables(sharing: Sharing, vocabularies: Vocabularies, width: int) -> Tables:
    """Return the tables, as far apart as `sharing` says."""
    if sharing == "shared" and not vocabularies.is_shared:
        raise ConfigError(
            'model.embeddings: "shared" needs one vocabulary for both languages; say text.vocabularies=shared, or '
            'model.embeddings="target".'
        )
    target = build_table(vocabularies.target, width)
    source = target if sharing == "shared" else build_table(vocabularies.source, width)
    output = target if sharing != "separate" else build_table(vocabularies.target, width)
    return Tables(source, target, output)

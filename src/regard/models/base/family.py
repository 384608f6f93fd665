"""A model family: what its module registers, and the kinds of models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.base.tensor_parallel import Split

if TYPE_CHECKING:
    from torch import nn

Kind = Literal[
    "seq2seq", "conditional-masked-lm", "causal-lm", "encoder", "bidirectional-lm", "embeddings", "word-vectors"
]
"""The protocol of `models.base.protocols` that a family implements; determines its tasks."""

KINDS: dict[Kind, str] = {
    "seq2seq": "sequence-to-sequence model",
    "conditional-masked-lm": "conditional masked language model",
    "causal-lm": "language model",
    "encoder": "text encoder",
    "word-vectors": "word vector model",
    "bidirectional-lm": "bidirectional language model",
    "embeddings": "word embedding model",
}
"""The name of each kind in messages."""

BIDIRECTIONAL_KINDS: tuple[Kind, ...] = ("encoder", "bidirectional-lm", "embeddings")
"""Kinds whose token representations depend on left and right context alike, or on none."""


@dataclass(frozen=True)
class Preset:
    """A preset: its name, its description with the source of its sizes, and its settings, the family included."""

    name: str
    about: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A model family: its settings class, its constructor and its kind."""

    settings: type[ModelSettings]
    build: "Callable[[Any, Vocabularies], nn.Module]"
    kind: Kind
    presets: tuple[Preset, ...] = ()
    """Presets of a package; those of built-in families are in `models/presets/`."""
    tensor_parallel: Mapping[str, Split] | None = None
    """The layers that several processes split, by patterns of their names; None: it has none."""

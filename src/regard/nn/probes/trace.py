"""Traces: tokens of one example, and arrays recorded at probes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError
from regard.nn.probes.attention_layer import AttentionLayer

if TYPE_CHECKING:
    from regard.reporting.drawing import Figure

KINDS = {
    "cross": ("decoder.blocks.{layer}.cross.weights", "decoder.cross.weights"),
    "encoder": ("encoder.blocks.{layer}.attention.weights",),
    "decoder": ("decoder.blocks.{layer}.attention.weights",),
    "self": ("blocks.{layer}.attention.weights",),
}
"""Probe paths of attention weights by kind: per block, or one (recurrent decoders)."""
AXES = {"cross": ("target", "source"), "encoder": ("source", "source"), "decoder": ("target", "input")}
"""The tokens that queries and keys stand for; a model of one text has `text` on both axes."""


@dataclass(frozen=True, repr=False)
class Trace:
    """The tokens of each side of one example, and the recorded array of each probe.

    A translator's `target` are the tokens that its decoder predicts, EOS last: each row of a decoder's array belongs
    to one of them. `input` are those that it reads, one position later.
    """

    tokens: Mapping[str, list[str]]
    arrays: Mapping[str, NDArray[np.float32]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that were recorded: cross, encoder and decoder of a translator, self of others."""
        return tuple(kind for kind in KINDS if self.names(kind))

    def names(self, kind: str) -> list[str]:
        """Return the recorded probe paths of this attention, lowest layer first."""
        if kind not in KINDS:
            raise ConfigError(f'attention: there is no "{kind}"; choose from {", ".join(KINDS)}.')
        paths = [path.format(layer=layer) for path in KINDS[kind] for layer in range(len(self.arrays))]
        return [name for name in dict.fromkeys(paths) if name in self.arrays]

    def layers(self, kind: str) -> int:
        """Return the number of layers with this attention."""
        return len(self.names(kind))

    def attention(self, kind: str | None = None, layer: int = -1) -> NDArray[np.float32]:
        """Return the weights (heads, queries, keys) of a layer (default: the first kind, the last layer)."""
        return self.layer(kind, layer).weights

    def layer(self, kind: str | None = None, layer: int = -1) -> AttentionLayer:
        """Return the weights of a layer with the tokens of both axes."""
        if not self.kinds:
            raise ConfigError("attention: this model has none; give a Transformer, a GPT, a BERT or the like.")
        chosen = kind or self.kinds[0]
        names = self.names(chosen)
        if not names:
            raise ConfigError(f"attention: this model has no {chosen} attention; it has {' and '.join(self.kinds)}.")
        count = len(names)
        if not -count <= layer < count:
            raise ConfigError(
                f"layer: {layer} is out of range, this model has {count} layers with {chosen} attention."
            )
        queries, keys = AXES.get(chosen, ("text", "text"))
        read = self.tokens.get(keys, self.tokens.get(queries, []))
        weights = self.arrays[names[layer]]
        return AttentionLayer(chosen, layer % count, count, self.tokens.get(queries, []), read, weights)

    def plot(
        self, kind: str | None = None, layer: int = -1, head: int | None = None, path: str | Path | None = None
    ) -> "Figure":
        """Return a picture of a layer's weights, of one head or of the mean of all; with a path, write it there."""
        return self.layer(kind, layer).plot((head,), path)

    def __repr__(self) -> str:
        sizes = {name: len(self.tokens.get(name, ())) for name in ("source", "target", "text")}
        sides = [f"{name} {size} tokens" for name, size in sizes.items() if size]
        layers = [f"{kind} {self.layers(kind)} layers" for kind in self.kinds]
        shown = f"attention: {', '.join(layers)}" if layers else f"{len(self.arrays)} arrays"
        return f"Trace({', '.join(sides)}; {shown})"

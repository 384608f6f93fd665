"""Traces: tokens of one example, and arrays recorded at probes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError

PATHS = {
    ("encoder", "self"): ("encoder.blocks.{layer}.attention.weights", "blocks.{layer}.attention.weights"),
    ("decoder", "self"): ("decoder.blocks.{layer}.attention.weights", "blocks.{layer}.attention.weights"),
    ("decoder", "cross"): ("decoder.blocks.{layer}.cross.weights", "decoder.cross.weights"),
}
"""Probe paths of attention weights: per block (GPT is a decoder, BERT an encoder), or one (recurrent decoders)."""


@dataclass(frozen=True)
class Trace:
    """The tokens of each side of one example, and the recorded array of each probe."""

    tokens: dict[str, list[str]]
    arrays: dict[str, NDArray[np.float32]]

    def layers(self, stack: str, kind: str) -> int:
        """Return the number of layers with this attention."""
        return len(self.names(stack, kind))

    def attention(self, stack: str, kind: str, layer: int = -1) -> NDArray[np.float32]:
        """Return the weights (heads, queries, keys) of `encoder self`, `decoder self` or `decoder cross`."""
        names = self.names(stack, kind)
        count = len(names)
        if not -count <= layer < count:
            raise ConfigError(
                f"layer: {layer} is out of range, this model has {count} {stack} layers with {kind} attention."
            )
        return self.arrays[names[layer]]

    def names(self, stack: str, kind: str) -> list[str]:
        """Return the recorded probe paths of this attention, lowest layer first."""
        if (stack, kind) not in PATHS:
            choices = ", ".join(f'"{a}" "{b}"' for a, b in PATHS)
            raise ConfigError(f'attention: there is no "{stack}" "{kind}"; choose from {choices}.')
        paths = [path.format(layer=layer) for path in PATHS[stack, kind] for layer in range(len(self.arrays))]
        return [name for name in dict.fromkeys(paths) if name in self.arrays]

"""What was recorded while a model ran: tokens and arrays by probe path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError

PATHS = {
    ("encoder", "self"): ("encoder.blocks.{layer}.attention.weights", "blocks.{layer}.attention.weights"),
    ("decoder", "self"): ("decoder.blocks.{layer}.attention.weights", "blocks.{layer}.attention.weights"),
    ("decoder", "cross"): ("decoder.blocks.{layer}.cross.weights", "decoder.cross.weights"),
}
"""Where attention is found: in every block (GPT is all decoder, BERT all encoder), or once (recurrent decoders)."""


@dataclass(frozen=True)
class Trace:
    """Tokens of each side, and the recorded array of each probe, for one example."""

    tokens: dict[str, list[str]]
    arrays: dict[str, NDArray[np.float32]]

    def layers(self, stack: str, kind: str) -> int:
        """Return how many layers have this attention."""
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
        """Return the recorded paths of this attention, the lowest layer first."""
        if (stack, kind) not in PATHS:
            known = ", ".join(f'"{a}" "{b}"' for a, b in PATHS)
            raise ConfigError(f'attention: there is no "{stack}" "{kind}"; known are {known}.')
        paths = [path.format(layer=layer) for path in PATHS[stack, kind] for layer in range(len(self.arrays))]
        return [name for name in dict.fromkeys(paths) if name in self.arrays]

"""What was recorded while a model ran: tokens and arrays by probe path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError

PATHS = {
    ("encoder", "self"): "encoder.blocks.{layer}.attention.weights",
    ("decoder", "self"): "decoder.blocks.{layer}.attention.weights",
    ("decoder", "cross"): "decoder.blocks.{layer}.cross.weights",
}


@dataclass(frozen=True)
class Trace:
    """Tokens of each side, and the recorded array of each probe, for one example."""

    tokens: dict[str, list[str]]
    arrays: dict[str, NDArray[np.float32]]

    def layers(self, stack: str, kind: str) -> int:
        """Return how many layers have this attention."""
        layer = 0
        while _path(stack, kind, layer) in self.arrays:
            layer += 1
        return layer

    def attention(self, stack: str, kind: str, layer: int = -1) -> NDArray[np.float32]:
        """Return the weights (heads, queries, keys) of `encoder self`, `decoder self` or `decoder cross`."""
        count = self.layers(stack, kind)
        if not -count <= layer < count:
            raise ConfigError(
                f"layer: {layer} is out of range, this model has {count} {stack} layers with {kind} attention."
            )
        return self.arrays[_path(stack, kind, layer % count)]


def _path(stack: str, kind: str, layer: int) -> str:
    try:
        return PATHS[stack, kind].format(layer=layer)
    except KeyError:
        known = ", ".join(f'"{a}" "{b}"' for a, b in PATHS)
        raise ConfigError(f'attention: there is no "{stack}" "{kind}"; known are {known}.') from None

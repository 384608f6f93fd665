"""Linear layers, filled the same way everywhere."""

from torch import nn


def build_linear(inputs: int, outputs: int, has_bias: bool = True, parts: int = 1) -> nn.Linear:
    """Return a layer filled as Glorot & Bengio (2010) do, each of the `parts` packed into one product on its own."""
    layer = nn.Linear(inputs, outputs, bias=has_bias)
    for part in layer.weight.chunk(parts):
        nn.init.xavier_uniform_(part)
    if has_bias:
        nn.init.zeros_(layer.bias)
    return layer

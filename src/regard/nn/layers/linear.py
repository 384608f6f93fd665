"""Linear layers with Xavier initialization, prepacked weights and int8 weights."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.kernels.availability import can_fuse, product_dtype
from regard.nn.layers.dtensor import is_dtensor

FREE_ROWS = 16
"""Below as many rows, a packed product has as many as it is given."""


class Linear(nn.Linear):
    """A linear layer that may use a prepacked weight (`nn.inference.prepacked`) or int8 (`nn.inference.int8`)."""

    parts: tuple[int, ...] = ()
    """Sizes of the parts that its outputs consist of, such as queries, keys and values."""
    packed: Tensor | None = None
    single: Tensor | None = None
    int8: Callable[[Tensor], Tensor] | None = None
    """The product with the quantized weight, bias included."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x Wᵀ + b."""
        if self.int8 is not None:
            return self.int8(x)
        return product(x, self.weight, self.bias, self.packed, self.single)


def can_fuse_around(layer: nn.Linear, x: Tensor) -> bool:
    """Return True if fused kernels may take over the bias of a layer and what follows it."""
    return layer.bias is not None and can_fuse(x) and not is_dtensor(layer.weight)


def product(
    x: Tensor, weight: Tensor, bias: Tensor | None, packed: Tensor | None, single: Tensor | None = None
) -> Tensor:
    """Return x Wᵀ + b, with the packed weight if there is one, or with `single` if x is a single row."""
    if packed is None:
        return F.linear(x, weight, bias)
    inputs = x.size(-1)
    rows = x.numel() // inputs
    if single is not None and rows == 1:
        return F.linear(x, single, bias)
    if rows < FREE_ROWS or (padded := padded_rows(rows)) == rows:
        return _multiply_packed()(x, packed, bias, "none", [], "")
    several = x.new_zeros(padded, inputs)
    several[:rows] = x.reshape(rows, inputs)
    outputs: Tensor = _multiply_packed()(several, packed, bias, "none", [], "")
    return outputs[:rows].view(*x.shape[:-1], -1)


def padded_rows(rows: int) -> int:
    """Return the rows that a packed product has: one of eight numbers between two powers of two.

    For each number of rows oneDNN generates code and keeps it, half a megabyte that takes longer than the product.
    """
    step = 1 << max(0, rows.bit_length() - 4)
    return -(-rows // step) * step


def as_product(x: Tensor) -> Tensor:
    """Return a tensor in autocast's precision of products; norms leave fp32."""
    return x.to(product_dtype(x))


@cache
def _multiply_packed() -> Any:
    """Return the operator, whose name would otherwise be resolved at every call."""
    return torch.ops.mkldnn._linear_pointwise.default


def build_linear(inputs: int, outputs: int, has_bias: bool = True, parts: Sequence[int] | int = 1) -> nn.Linear:
    """Return a layer with the initialization of Glorot & Bengio (2010), applied to each of its `parts` separately.

    Parts are a number of equal parts, or sizes that add up to the outputs.
    """
    layer = Linear(inputs, outputs, bias=has_bias)
    layer.parts = (outputs // parts,) * parts if isinstance(parts, int) else tuple(parts)
    for part in layer.weight.split(list(layer.parts)):
        nn.init.xavier_uniform_(part)
    if has_bias:
        nn.init.zeros_(layer.bias)
    return layer

"""Linear layers, filled the same way everywhere."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.kernels.availability import product_dtype


class Linear(nn.Linear):
    """A linear layer that can be lent its weight in another layout (see `nn.packed`), or hold it in int8."""

    packed: Tensor | None = None
    single: Tensor | None = None
    int8: Callable[[Tensor], Tensor] | None = None
    """The product with a rounded weight, and the bias (see `nn.int8`)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x Wᵀ + b."""
        if self.int8 is not None:
            return self.int8(x)
        return product(x, self.weight, self.bias, self.packed, self.single)


def product(
    x: Tensor, weight: Tensor, bias: Tensor | None, packed: Tensor | None, single: Tensor | None = None
) -> Tensor:
    """Return x Wᵀ + b, by the packed weight where there is one, and by that for single rows where x is one."""
    if packed is None:
        return F.linear(x, weight, bias)
    if single is not None and x.numel() == x.size(-1):
        return F.linear(x, single, bias)
    return _multiply_packed()(x, packed, bias, "none", [], "")


def as_product(x: Tensor) -> Tensor:
    """Return a tensor in the precision that a product makes of it under autocast, which a norm leaves in fp32."""
    return x.to(product_dtype(x))


@cache
def _multiply_packed() -> Any:
    """Return the one function behind the name, which otherwise is looked for at every call."""
    return torch.ops.mkldnn._linear_pointwise.default


def build_linear(inputs: int, outputs: int, has_bias: bool = True, parts: Sequence[int] | int = 1) -> nn.Linear:
    """Return a layer filled as Glorot & Bengio (2010) do, each of the `parts` packed into one product on its own.

    Parts are as many of equal size, or sizes that add up to the outputs.
    """
    layer = Linear(inputs, outputs, bias=has_bias)
    for part in layer.weight.chunk(parts) if isinstance(parts, int) else layer.weight.split(list(parts)):
        nn.init.xavier_uniform_(part)
    if has_bias:
        nn.init.zeros_(layer.bias)
    return layer

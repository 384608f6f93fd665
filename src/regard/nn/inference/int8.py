"""Weights held in eight bits: on a CPU, a step of generation reads a quarter of what it reads in fp32.

A weight becomes whole numbers from -127 to 127 with one scale for each output. What it is multiplied with keeps 14
bits: every row is written in two digits of base 128 on a scale of its own, and both digits of all rows go through one
product of whole numbers. So rows do not depend on their neighbors, sums are exact, and digits of seven bits stay so
on processors that add pairs of products in 16 bits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.linear import Linear

LARGEST = 127
"""The largest whole number a weight becomes."""
BASE_BITS, BASE_MASK, MIDDLE = 7, 127, 63
"""Bits of a digit, and the digit that stands for nothing: both digits are counted from it."""
HALF = MIDDLE << BASE_BITS | MIDDLE
"""The largest number two digits hold on either side of nothing."""
LEAST = 1e-30
"""What is smaller than this has the scale of nothing."""


class Int8Weight:
    """A weight (outputs, inputs) in whole numbers, and how to multiply by it."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.scale = weight.abs().amax(1).clamp(min=LEAST) / LARGEST  # (outputs,)
        self.bias = None if bias is None else bias.detach()
        self.packed: Tensor = _packing()((weight / self.scale[:, None]).round().to(torch.int8), None)
        self.zero = torch.zeros(len(weight), dtype=torch.int32)

    def __call__(self, x: Tensor) -> Tensor:
        """Return x Wᵀ + b (..., outputs) of x (..., inputs)."""
        if x.requires_grad:
            raise ConfigError("quantize: int8 weights do not learn; use them under torch.inference_mode().")
        rows = x.reshape(-1, x.size(-1))  # (M, inputs)
        scale = torch.add(_nothing(), rows.abs().amax(-1, True), alpha=1 / HALF)
        whole = rows.div(scale).add_(HALF + 0.5).to(torch.int16)  # nothing is below 0.5, so cutting off rounds
        digits = torch.cat((whole >> BASE_BITS, whole & BASE_MASK)).to(torch.int8).view(torch.uint8)
        high, low = self._multiply(digits).chunk(2)  # (M, outputs)
        found = torch.add(low, high, alpha=1 << BASE_BITS, out=low)
        found = found.mul_(scale) if self.bias is None else torch.addcmul(self.bias, found, scale, out=found)
        return found.view(*x.shape[:-1], len(self.scale))

    def _multiply(self, digits: Tensor) -> Tensor:
        """Return the sums of digits (M, inputs), counted from the middle one, times weights."""
        weight = (self.packed, self.scale, self.zero)
        return _multiplying()(digits, 1.0, MIDDLE, *weight, None, 1.0, 0, torch.float32, "none", [], "")


@cache
def _nothing() -> Tensor:
    return torch.tensor(LEAST)


@cache
def _packing() -> Any:
    return torch.ops.onednn.qlinear_prepack.default


@cache
def _multiplying() -> Any:
    """Return the one function behind the name, which otherwise is looked for at every call."""
    return torch.ops.onednn.qlinear_pointwise.default


@cache
def can_multiply_int8() -> bool:
    """Tell whether this build of torch multiplies whole numbers on this processor, and rightly."""
    weight = torch.tensor([[127.0] * 64, [-127.0] * 64]) * torch.tensor([1.0, -1.0]).repeat(32)
    x = torch.stack([weight[0], weight[1], torch.linspace(-1, 1, 64)])
    try:
        found = Int8Weight(weight)(x)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.allclose(found, x @ weight.T, rtol=1e-3, atol=1.0)


def quantize_int8(model: nn.Module) -> None:
    """Let the linear layers and the vocabulary of a model on a CPU multiply by int8 copies of their weights."""
    drop_prepacked(model)
    for layer in _layers(model):
        layer.int8 = Int8Weight(layer.weight.detach(), layer.bias)


def drop_int8(model: nn.Module) -> None:
    """Let a model multiply by its own weights again."""
    for layer in _layers(model):
        layer.int8 = None


@contextmanager
def own_weights(model: nn.Module) -> Iterator[None]:
    """Let a model multiply by its own weights for the length of a block, whatever it holds."""
    held = {layer: layer.int8 for layer in _layers(model)}
    drop_int8(model)
    try:
        yield
    finally:
        if any(held.values()):
            drop_prepacked(model)  # copies of what is not used again
        for layer, weight in held.items():
            layer.int8 = weight


def _layers(model: nn.Module) -> list[Linear | VocabularyHead]:
    return [layer for layer in model.modules() if isinstance(layer, Linear | VocabularyHead)]

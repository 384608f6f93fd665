"""Int8 weight quantization: on a CPU, a generation step reads a quarter of the bytes of fp32 weights.

Weights become integers from -127 to 127 with one scale per output. Activations keep 14 bits: every row is written in
two digits of base 128 with a scale of its own, and both digits of all rows go through one integer product. So rows do
not depend on each other, sums are exact, and 7-bit digits do not overflow on processors that add pairs of products in
16 bits.
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
"""The largest quantized weight."""
BASE_BITS, BASE_MASK, MIDDLE = 7, 127, 63
"""Bits of a digit, their mask, and the zero point of both digits."""
HALF = MIDDLE << BASE_BITS | MIDDLE
"""The largest absolute value of two digits."""
LEAST = 1e-30
"""Lower bound of scales, against division by zero."""


class Int8Weight:
    """A quantized weight (outputs, inputs), and the product with it."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.scale = weight.abs().amax(1).clamp(min=LEAST) / LARGEST  # (outputs,)
        self.bias = None if bias is None else bias.detach()
        self.packed: Tensor = _packing()((weight / self.scale[:, None]).round().to(torch.int8), None)
        self.zero = torch.zeros(len(weight), dtype=torch.int32)

    def __call__(self, x: Tensor) -> Tensor:
        """Return x Wᵀ + b (..., outputs) of x (..., inputs)."""
        if x.requires_grad:
            raise ConfigError("quantize: int8 weights cannot be trained; use them under torch.inference_mode().")
        rows = x.reshape(-1, x.size(-1))  # (M, inputs)
        scale = torch.add(_least(), rows.abs().amax(-1, True), alpha=1 / HALF)
        whole = rows.div(scale).add_(HALF + 0.5).to(torch.int16)  # all are at least 0.5, so truncation rounds
        digits = torch.cat((whole >> BASE_BITS, whole & BASE_MASK)).to(torch.int8).view(torch.uint8)
        high, low = self._multiply(digits).chunk(2)  # (M, outputs)
        outputs = torch.add(low, high, alpha=1 << BASE_BITS, out=low)
        outputs = outputs.mul_(scale) if self.bias is None else torch.addcmul(self.bias, outputs, scale, out=outputs)
        return outputs.view(*x.shape[:-1], len(self.scale))

    def _multiply(self, digits: Tensor) -> Tensor:
        """Return the product (M, outputs) of digits (M, inputs), minus their zero point, and the weights."""
        weight = (self.packed, self.scale, self.zero)
        return _multiplying()(digits, 1.0, MIDDLE, *weight, None, 1.0, 0, torch.float32, "none", [], "")


@cache
def _least() -> Tensor:
    return torch.tensor(LEAST)


@cache
def _packing() -> Any:
    return torch.ops.onednn.qlinear_prepack.default


@cache
def _multiplying() -> Any:
    """Return the operator, whose name would otherwise be resolved at every call."""
    return torch.ops.onednn.qlinear_pointwise.default


@cache
def can_multiply_int8() -> bool:
    """Return True if this build of torch has a correct integer product on this processor."""
    weight = torch.tensor([[127.0] * 64, [-127.0] * 64]) * torch.tensor([1.0, -1.0]).repeat(32)
    x = torch.stack([weight[0], weight[1], torch.linspace(-1, 1, 64)])
    try:
        outputs = Int8Weight(weight)(x)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.allclose(outputs, x @ weight.T, rtol=1e-3, atol=1.0)


def quantize_int8(model: nn.Module) -> None:
    """Quantize the linear layers and the vocabulary head of a model on a CPU; the original weights are kept."""
    drop_prepacked(model)
    for layer in _layers(model):
        layer.int8 = Int8Weight(layer.weight.detach(), layer.bias)


def drop_int8(model: nn.Module) -> None:
    """Undo `quantize_int8`: the model multiplies by its original weights again."""
    for layer in _layers(model):
        layer.int8 = None


@contextmanager
def without_int8(model: nn.Module) -> Iterator[None]:
    """Disable a model's int8 weights within a `with` block."""
    quantized = {layer: layer.int8 for layer in _layers(model)}
    drop_int8(model)
    try:
        yield
    finally:
        if any(quantized.values()):
            drop_prepacked(model)  # copies of weights that are no longer used
        for layer, weight in quantized.items():
            layer.int8 = weight


def _layers(model: nn.Module) -> list[Linear | VocabularyHead]:
    return [layer for layer in model.modules() if isinstance(layer, Linear | VocabularyHead)]

"""Prepacked weights in oneDNN's layout: on a CPU, products of a few rows take a third of the time.

With a single row, the time is that of reading the weights, and a matrix with more outputs than inputs is read fastest
input by input: such weights are stored transposed.

A packed weight is a copy that its layer has within a `with` block only: it is neither trained nor saved.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.layers.dtensor import is_dtensor
from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.linear import Linear, product


@dataclass(frozen=True)
class _Copies:
    """The packed weights of a model's layers, and the versions of the weights they were copied from."""

    weights: dict[Linear | VocabularyHead, Tensor]
    versions: list[tuple[int, int]]
    single: dict[Linear | VocabularyHead, Tensor] = field(default_factory=dict)
    """The weights for single rows, made on first use."""


_copies: "weakref.WeakKeyDictionary[nn.Module, _Copies]" = weakref.WeakKeyDictionary()


@contextmanager
def packed(model: nn.Module, has_single_rows: bool = False) -> Iterator[None]:
    """Make a model multiply by packed weights within a `with` block; does nothing if they are not supported.

    With `has_single_rows`, some weights have another copy for products of a single row.
    """
    copies = _copies_of(model)
    if has_single_rows and not copies.single:
        copies.single.update({layer: _for_single_rows(layer.weight.detach()) for layer in copies.weights})
    for layer, weight in copies.weights.items():
        layer.packed, layer.single = weight, copies.single[layer] if has_single_rows else None
    try:
        yield
    finally:
        for layer in copies.weights:
            layer.packed = layer.single = None


def drop_prepacked(model: nn.Module) -> None:
    """Drop the packed copies of a model's weights; the next use makes new ones."""
    _copies.pop(model, None)


def _copies_of(model: nn.Module) -> _Copies:
    first = next(model.parameters(), None)
    if first is None or first.device.type != "cpu" or not can_pack():
        return _Copies({}, [])
    layers = [layer for layer in model.modules() if isinstance(layer, Linear | VocabularyHead)]
    weights = [layer.weight for layer in layers]
    is_int8 = any(layer.int8 is not None for layer in layers)  # the fp32 weights are then not used
    has_parts = any(is_dtensor(weight) for weight in weights)
    if (
        is_int8
        or has_parts
        or any(weight.device.type != "cpu" or weight.dtype != torch.float32 for weight in weights)
    ):
        return _Copies({}, [])
    # An optimizer's step and loading weights both change a tensor's version.
    versions = [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]
    copies = _copies.get(model)
    if copies is None or copies.versions != versions:
        copies = _Copies({layer: _pack(layer.weight.detach()) for layer in layers}, versions)
        _copies[model] = copies
    return copies


def _for_single_rows(weight: Tensor) -> Tensor:
    """Return a weight (outputs, inputs) in the memory order that is read fastest for a single row."""
    return weight.T.contiguous().T if weight.size(0) > weight.size(1) else weight


def _pack(weight: Tensor) -> Tensor:
    reorder: Any = torch.ops.mkldnn._reorder_linear_weight
    return reorder(weight.contiguous())


@cache
def can_pack() -> bool:
    """Return True if this build of torch packs weights and multiplies by them correctly."""
    weight, x = torch.arange(12.0).view(4, 3), torch.ones(2, 3)
    try:
        outputs = product(x, weight, None, _pack(weight))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.equal(outputs, x @ weight.T)

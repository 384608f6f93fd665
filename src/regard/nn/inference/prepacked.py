"""Weights in the layout oneDNN multiplies from: on a CPU, products of a few rows take a third of the time.

With a single row, all time goes into reading the weights, and a matrix of more outputs than inputs is read fastest
input by input: such weights are lent turned.

A packed weight is a copy, lent to its layer for the length of a block: nothing that is trained or saved knows of it.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.linear import Linear, product


@dataclass(frozen=True)
class _Copies:
    """The packed weights of a model's layers, and the state of the weights they are copies of."""

    weights: dict[Linear | VocabularyHead, Tensor]
    made_from: list[tuple[int, int]]
    single: dict[Linear | VocabularyHead, Tensor] = field(default_factory=dict)
    """The weights for single rows, once they were asked for."""


_copies: "weakref.WeakKeyDictionary[nn.Module, _Copies]" = weakref.WeakKeyDictionary()


@contextmanager
def packed(model: nn.Module, has_single_rows: bool = False) -> Iterator[None]:
    """Let a model multiply by packed weights for the length of a block; does nothing where that is impossible.

    Where single rows are to be expected, there is another copy of some weights for them.
    """
    copies = _copies_of(model)
    if has_single_rows and not copies.single:
        copies.single.update({layer: _turned(layer.weight.detach()) for layer in copies.weights})
    for layer, weight in copies.weights.items():
        layer.packed, layer.single = weight, copies.single[layer] if has_single_rows else None
    try:
        yield
    finally:
        for layer in copies.weights:
            layer.packed = layer.single = None


def drop_prepacked(model: nn.Module) -> None:
    """Drop the copies of a model's weights: the next use makes new ones."""
    _copies.pop(model, None)


def _copies_of(model: nn.Module) -> _Copies:
    first = next(model.parameters(), None)
    if first is None or first.device.type != "cpu" or not can_pack():
        return _Copies({}, [])
    layers = [layer for layer in model.modules() if isinstance(layer, Linear | VocabularyHead)]
    weights = [layer.weight for layer in layers]
    is_held = any(layer.int8 is not None for layer in layers)  # then the weights themselves are not multiplied by
    if is_held or any(weight.device.type != "cpu" or weight.dtype != torch.float32 for weight in weights):
        return _Copies({}, [])
    # An optimizer's step and the loading of weights count as versions of a tensor.
    state = [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]
    known = _copies.get(model)
    if known is None or known.made_from != state:
        known = _Copies({layer: _pack(layer.weight.detach()) for layer in layers}, state)
        _copies[model] = known
    return known


def _turned(weight: Tensor) -> Tensor:
    """Return a weight (outputs, inputs), in whichever order it is read fastest for a single row."""
    return weight.T.contiguous().T if weight.size(0) > weight.size(1) else weight


def _pack(weight: Tensor) -> Tensor:
    reorder: Any = torch.ops.mkldnn._reorder_linear_weight
    return reorder(weight.contiguous())


@cache
def can_pack() -> bool:
    """Tell whether this build of torch packs weights, and multiplies by them rightly."""
    weight, x = torch.arange(12.0).view(4, 3), torch.ones(2, 3)
    try:
        found = product(x, weight, None, _pack(weight))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.equal(found, x @ weight.T)

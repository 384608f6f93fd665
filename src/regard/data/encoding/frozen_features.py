"""Frozen features: word vectors from the layers of a pretrained model, summed or concatenated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.encoding.inputs import Tensors
from regard.data.encoding.labeled import HeadBatch
from regard.data.encoding.tagged import EncodedTags

Way = Literal["embeddings", "last", "second-to-last", "sum-all", "sum-last-4", "concat-last-4"]
"""The layers that represent a word (Devlin et al., 2019, table 7)."""
WAYS: tuple[Way, ...] = get_args(Way)

Vectors = NDArray[np.float32]
ALL = -1
"""Layer number of the sum of all blocks."""
CHUNK = 8192


@dataclass(frozen=True)
class LayerSelection:
    """Layers (0: the embeddings; ALL: the sum of all blocks), summed or else concatenated."""

    layers: tuple[int, ...]
    is_sum: bool = True


def recipe_of(way: Way, blocks: int) -> LayerSelection:
    """Return the layers of a way for a model with `blocks` blocks; with fewer than four, the last four are all."""
    last_four = tuple(range(max(1, blocks - 3), blocks + 1))
    return {
        "embeddings": LayerSelection((0,)),
        "last": LayerSelection((blocks,)),
        "second-to-last": LayerSelection((blocks - 1,)),
        "sum-all": LayerSelection((ALL,)),
        "sum-last-4": LayerSelection(last_four),
        "concat-last-4": LayerSelection(last_four, is_sum=False),
    }[way]


def needed_layers(ways: Sequence[Way], blocks: int) -> tuple[int, ...]:
    """Return the layers that some ways use, sorted."""
    return tuple(sorted({layer for way in ways for layer in recipe_of(way, blocks).layers}))


@dataclass(frozen=True)
class VectorRows(Tensors):
    """Word vectors, one row per sentence, padded on the right."""

    vectors: Tensor  # (R, T, D)
    token_mask: Tensor  # (R, T)

    @property
    def shape(self) -> tuple[int, ...]:
        """R, T and D."""
        return tuple(self.vectors.shape)


class FrozenFeatures:
    """The vectors of all words of some sentences, computed from stored layers by a layer selection."""

    def __init__(
        self, encoded: EncodedTags, layers: Mapping[int, NDArray[np.float16]], recipe: LayerSelection
    ) -> None:
        self.encoded, self.layers, self.recipe = encoded, layers, recipe
        self.center: Vectors | float = 0.0
        self.spread: Vectors | float = 1.0

    def __len__(self) -> int:
        return len(self.encoded)

    @property
    def width(self) -> int:
        """The dimension of a word vector."""
        one = self.layers[self.recipe.layers[0]].shape[1]
        return one if self.recipe.is_sum else one * len(self.recipe.layers)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source lengths (0) and target lengths (words) of each sentence."""
        words = self.encoded.steps.lengths
        return np.zeros_like(words), words

    def answers_in(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of words of each sentence."""
        return self.encoded.answers_in(rows)

    def of(self, words: NDArray[np.int64] | slice) -> Vectors:
        """Return the vectors (W, D) of some words, standardized if this is from `in_units`."""
        parts = [self.layers[layer][words].astype(np.float32) for layer in self.recipe.layers]
        vectors = np.sum(parts, axis=0) if self.recipe.is_sum else np.concatenate(parts, axis=1)
        return (vectors - self.center) / self.spread

    def measured(self) -> tuple[Vectors, Vectors]:
        """Return the mean (D,) and the standard deviation (D,) over all words."""
        size = len(self.encoded.labels.ids)
        chunks: Callable[[], list[slice]] = lambda: [slice(at, at + CHUNK) for at in range(0, size, CHUNK)]
        mean = sum(self.of(each).sum(0, dtype=np.float64) for each in chunks()) / size
        square = sum(((self.of(each) - mean) ** 2).sum(0, dtype=np.float64) for each in chunks()) / size
        return mean.astype(np.float32), np.sqrt(square + 1e-6).astype(np.float32)

    def in_units(self, units: tuple[Vectors, Vectors]) -> "FrozenFeatures":
        """Return the same features standardized by a mean and a standard deviation, those of a training set."""
        features = FrozenFeatures(self.encoded, self.layers, self.recipe)
        features.center, features.spread = units
        return features

    def batch(self, rows: NDArray[np.int64]) -> HeadBatch:
        """Return some of the sentences as one batch with a label for each word."""
        starts, lengths = self.encoded.steps.starts[rows], self.encoded.steps.lengths[rows]
        token_mask = np.arange(lengths.max()) < lengths[:, None]  # (R, T)
        words = (starts[:, None] + np.arange(token_mask.shape[1]))[token_mask]
        vectors = np.zeros((*token_mask.shape, self.width), np.float32)
        vectors[token_mask] = self.of(words)
        positions = np.flatnonzero(token_mask)
        nothing = torch.zeros(0, dtype=torch.int64)
        return HeadBatch(
            VectorRows(torch.from_numpy(vectors), torch.from_numpy(token_mask)),
            torch.from_numpy(positions)[:, None],
            torch.ones(len(positions), 1, dtype=torch.bool),
            torch.from_numpy(self.encoded.labels.ids[words].astype(np.int64)),
            nothing,
            nothing,
            len(positions),
            0,
        )

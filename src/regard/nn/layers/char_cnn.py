"""Character CNN: word vectors from convolutions over characters, max-pooling and highway layers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.layers.linear import build_linear
from regard.text.char_tokenizer import BYTES, SPACE, WORD_START_LIMIT

BEGIN, END = SPACE + BYTES, SPACE + BYTES + 1
CHARACTERS = END + 1
"""The size of the character vocabulary: special tokens, bytes, and the marks of a word's beginning and end."""
PADDING = 0
CARRY = -2.0
"""Initial bias of highway gates: most of the input is carried through."""


class Spelled(NamedTuple):
    """Words as padded rows of characters."""

    characters: Tensor  # (W, C) each word between its marks, padded at the end
    word: Tensor  # (N,) the index of each token's word


def spell(tokens: Tensor, longest: int) -> Spelled:
    """Return the words of tokens (N,), truncated to `longest` characters, marks included.

    The first token always begins a word; no word spans two sequences, since each sequence begins with a token that
    begins a word.
    """
    begins = tokens < WORD_START_LIMIT
    begins[0] = True
    word = begins.cumsum(0) - 1  # (N,)
    first = begins.nonzero()[:, 0]  # (W,)
    # The beginning mark replaces a space token, and precedes any other token.
    shift = (tokens[first] != SPACE).long()
    positions = torch.arange(tokens.numel(), device=tokens.device)
    slots = positions - first[word] + shift[word]
    sizes = torch.diff(first, append=first.new_tensor([tokens.numel()])) + shift  # with the beginning mark
    ends = sizes.clamp_max(longest - 1)  # (W,)
    characters = tokens.new_full((first.numel(), int(ends.max()) + 1), PADDING)
    kept = (slots > 0) & (slots < longest - 1)
    characters[word[kept], slots[kept]] = tokens[kept]
    characters[:, 0] = BEGIN
    characters.scatter_(1, ends[:, None], END)
    return Spelled(characters, word)


class Highway(nn.Module):
    """A highway layer: a gate mixes a nonlinear layer with its input (Srivastava et al., 2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = build_linear(width, 2 * width, parts=2)
        nn.init.constant_(self.both.bias[width:], CARRY)

    def forward(self, x: Tensor) -> Tensor:
        """Return g ∘ relu(W x + b) + (1 - g) ∘ x, where g = σ(W' x + b')."""
        transformed, gate = self.both(x).chunk(2, -1)
        return torch.lerp(x, transformed.relu(), gate.sigmoid())


class CharCnn(nn.Module):
    """Word vectors computed from characters (Kim et al., 2016; Peters et al., 2018)."""

    def __init__(self, character_width: int, filters: Sequence[tuple[int, int]], highways: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(CHARACTERS, character_width, padding_idx=PADDING)
        self.filters = nn.ModuleList(nn.Conv1d(character_width, count, size) for size, count in filters)
        self.widest = max(size for size, _ in filters)
        features = sum(count for _, count in filters)
        self.highways = nn.Sequential(*(Highway(features) for _ in range(highways)))
        self.projection = build_linear(features, width)

    def forward(self, characters: Tensor) -> Tensor:
        """Return (W, D) for words of characters (W, C), independent of the amount of padding."""
        sizes = (characters != PADDING).sum(1, keepdim=True)  # at least 2: the marks
        x = self.table(F.pad(characters, (0, max(0, self.widest - characters.size(1)))))  # (W, C, E)
        x = x.transpose(1, 2)
        features = []
        for convolution in self.filters:
            y = convolution(x)  # (W, count, windows)
            windows = torch.arange(y.size(2), device=y.device)
            # Windows that exceed the end of a word are masked, unless the word is shorter than the filter.
            outside = windows >= (sizes - self.widest_of(convolution) + 1).clamp_min(1)  # (W, windows)
            features.append(y.masked_fill(outside[:, None], -torch.inf).amax(2).relu())
        return self.projection(self.highways(torch.cat(features, 1)))

    @staticmethod
    def widest_of(convolution: nn.Module) -> int:
        """Return the width of a filter in characters."""
        assert isinstance(convolution, nn.Conv1d)
        return convolution.kernel_size[0]

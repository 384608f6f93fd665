"""Words out of their letters: convolutions over characters, the largest values, and highway layers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.layers.linear import build_linear
from regard.text.char_tokenizer import BEGINNINGS, BYTES, SPACE

BEGIN, END = SPACE + BYTES, SPACE + BYTES + 1
CHARACTERS = END + 1
"""Special tokens, bytes, and the marks of a word's beginning and end."""
PADDING = 0
CARRY = -2.0
"""Bias of a highway's gate at first: most of what comes in goes on as it is."""


class Spelled(NamedTuple):
    """Words as rows of characters."""

    characters: Tensor  # (W, C) each word between its marks, padded behind
    word: Tensor  # (N,) which word each token is of


def spell(tokens: Tensor, longest: int) -> Spelled:
    """Return the words of tokens (N,), of at most `longest` characters with their marks; a longer one loses its end.

    The first token begins a word, whatever it is; no word goes on from one sequence to the next, since each begins
    with a token that does.
    """
    begins = tokens < BEGINNINGS
    begins[0] = True
    word = begins.cumsum(0) - 1  # (N,)
    first = begins.nonzero()[:, 0]  # (W,)
    # The mark of a space gives way to that of a beginning; any other token stands behind it.
    shift = (tokens[first] != SPACE).long()
    places = torch.arange(tokens.numel(), device=tokens.device)
    slots = places - first[word] + shift[word]
    sizes = torch.diff(first, append=first.new_tensor([tokens.numel()])) + shift  # with the mark before
    ends = sizes.clamp_max(longest - 1)  # (W,)
    characters = tokens.new_full((first.numel(), int(ends.max()) + 1), PADDING)
    kept = (slots > 0) & (slots < longest - 1)
    characters[word[kept], slots[kept]] = tokens[kept]
    characters[:, 0] = BEGIN
    characters.scatter_(1, ends[:, None], END)
    return Spelled(characters, word)


class Highway(nn.Module):
    """A layer beside which its input passes by, as much as a gate lets it (Srivastava et al., 2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = build_linear(width, 2 * width, parts=2)
        nn.init.constant_(self.both.bias[width:], CARRY)

    def forward(self, x: Tensor) -> Tensor:
        """Return g ∘ relu(W x + b) + (1 - g) ∘ x, where g = σ(W' x + b')."""
        changed, gate = self.both(x).chunk(2, -1)
        return torch.lerp(x, changed.relu(), gate.sigmoid())


class CharCnn(nn.Module):
    """A vector for each word, made from its characters (Kim et al., 2016; Peters et al., 2018)."""

    def __init__(self, character_width: int, filters: Sequence[tuple[int, int]], highways: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(CHARACTERS, character_width, padding_idx=PADDING)
        self.filters = nn.ModuleList(nn.Conv1d(character_width, count, size) for size, count in filters)
        self.widest = max(size for size, _ in filters)
        found = sum(count for _, count in filters)
        self.highways = nn.Sequential(*(Highway(found) for _ in range(highways)))
        self.projection = build_linear(found, width)

    def forward(self, characters: Tensor) -> Tensor:
        """Return (W, D) for words of characters (W, C); how much padding stands behind them changes nothing."""
        sizes = (characters != PADDING).sum(1, keepdim=True)  # the marks make it two at least
        x = self.table(F.pad(characters, (0, max(0, self.widest - characters.size(1)))))  # (W, C, E)
        x = x.transpose(1, 2)
        found = []
        for convolution in self.filters:
            y = convolution(x)  # (W, count, windows)
            windows = torch.arange(y.size(2), device=y.device)
            # Windows that reach over the end of a word are looked at only where it is shorter than all windows.
            outside = windows >= (sizes - self.widest_of(convolution) + 1).clamp_min(1)  # (W, windows)
            found.append(y.masked_fill(outside[:, None], -torch.inf).amax(2).relu())
        return self.projection(self.highways(torch.cat(found, 1)))

    @staticmethod
    def widest_of(convolution: nn.Module) -> int:
        """Return how many characters a filter sees."""
        assert isinstance(convolution, nn.Conv1d)
        return convolution.kernel_size[0]

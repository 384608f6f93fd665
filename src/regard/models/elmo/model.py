"""ELMo (Peters et al., 2018): a character CNN for words, and a forward and a backward LSTM language model."""

from dataclasses import dataclass
from typing import Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.nn.layers.char_cnn import CharCnn, spell
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import VocabularyHead, build_table
from regard.nn.layers.recurrent import RecurrentLayer, reversed_positions, turned
from regard.nn.probes.probe import Probe

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


class ElmoSettings(ModelSettings):
    """Architecture of an ELMo, without its output vocabulary."""

    family: Literal["elmo"] = "elmo"
    width: int = Field(512, ge=1)
    """Width of word vectors and of each direction's outputs; the concatenation is twice as wide."""
    cell_width: int = Field(4096, ge=2)
    """Width of the LSTM cells, whose outputs are projected to `width`."""
    layers: int = Field(2, ge=1, le=1024)
    """Number of stacked LSTMs of each direction; all but the first have a residual connection."""
    character_width: int = Field(16, ge=1)
    """Width of character embeddings."""
    filters: tuple[tuple[int, int], ...] = Field(FILTERS, min_length=1)
    """Convolutions over the characters of a word, as (kernel size in characters, number of filters)."""
    highways: int = Field(2, ge=0)
    """Number of highway layers after the convolutions."""
    longest_word: int = Field(50, ge=4)
    """Maximum word length in characters (bytes), with the marks of its beginning and end."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the input of every layer and of the output projection."""

    @model_validator(mode="after")
    def _sizes_fit(self) -> "ElmoSettings":
        if self.cell_width <= self.width:
            raise ValueError(
                f"cell_width: {self.cell_width} is not wider than the {self.width} (width) it is projected to; "
                f"raise it."
            )
        for size, count in self.filters:
            if not 1 <= size <= self.longest_word or count < 1:
                raise ValueError(
                    f"filters: [{size}, {count}] is no filter; the first number must be 1 to "
                    f"{self.longest_word} (longest_word), the second at least 1."
                )
        return self


@dataclass(frozen=True)
class WordLayers:
    """Word states of all layers: of the character CNN, then of both directions of each LSTM."""

    states: list[Tensor]  # (R, T, 2 D)
    token_mask: Tensor  # (R, T) False at the padding after the words of a row
    word: Tensor  # (N,) the index of each token's word among all R * T

    def by_token(self, state: Tensor) -> Tensor:
        """Return the states of a layer for tokens (N, 2 D): all tokens of a word have the same."""
        return state.flatten(0, 1).index_select(0, self.word)


class Elmo(nn.Module):
    """Forward and backward LSTM stacks over words composed from characters, with one output projection.

    Its tokens are those of a `spelling_tokenizer`: bytes, from which the model composes words.
    """

    max_positions: int | None = None
    supports_cuda_graphs = False
    """Shapes depend on the words, so that no CUDA graph can be replayed."""

    def __init__(self, settings: ElmoSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = s = settings
        self.characters = CharCnn(s.character_width, s.filters, s.highways, s.width)
        self.ahead, self.back = (
            nn.ModuleList(RecurrentLayer("lstm", s.width, s.cell_width, s.width) for _ in range(s.layers))
            for _ in range(2)
        )
        self.dropout = Dropout(s.dropout)
        self.head = VocabularyHead(build_table(vocabularies.target, s.width), has_bias=True)
        self.embedded = Probe()  # (R, T, 2 D) the word vectors, repeated twice, for tokens
        self.hidden = nn.ModuleList(Probe() for _ in range(s.layers))  # (R, T, 2 D) both directions of each layer

    @property
    def vector_width(self) -> int:
        """Width of the states for heads: both directions."""
        return 2 * self.settings.width

    @property
    def layer_names(self) -> tuple[str, ...]:
        """The layers of a scalar mix: the character CNN, and the LSTMs."""
        return ("characters", *(f"lstm {number}" for number in range(1, 1 + self.settings.layers)))

    @property
    def layer_count(self) -> int:
        """Number of layers of a scalar mix."""
        return len(self.layer_names)

    def layers(self, tokens: Tensor, cu_seqlens: Tensor) -> WordLayers:
        """Return all layers for concatenated sequences of tokens (N,) with offsets `cu_seqlens` (R + 1,)."""
        spelled = spell(tokens, self.settings.longest_word)
        characters, kind = spelled.characters.unique(dim=0, return_inverse=True)  # most words occur repeatedly
        row, column, token_mask = _lay_out(spelled.word, cu_seqlens)
        words = self.characters(characters)  # (U, D)
        index = row * token_mask.size(1) + column  # (W,) of each word among all R * T
        kinds = kind.new_zeros(token_mask.numel()).index_copy(0, index, kind)
        x = F.embedding(kinds, words).unflatten(0, token_mask.shape)  # (R, T, D); padding is an arbitrary word
        turn = reversed_positions(token_mask)
        ahead = self._run(self.ahead, x)
        back = [turned(each, turn) for each in self._run(self.back, turned(x, turn))]
        both = [torch.cat(pair, -1) for pair in zip([x, *ahead], [x, *back], strict=True)]
        return WordLayers(both, token_mask, index[spelled.word])

    def _run(self, stack: nn.ModuleList, x: Tensor) -> list[Tensor]:
        """Return the outputs (R, T, D) of all layers of one direction."""
        outputs: list[Tensor] = []
        for layer in stack:
            y, _ = layer(self.dropout(x))
            x = y + x if outputs else y
            outputs.append(x)
        return outputs

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, cu_seqlens: Tensor, max_seqlen: int
    ) -> Tensor:
        """Return the last layer's states (N, 2 D) for the tokens of concatenated sequences."""
        layers = self.layers(tokens, cu_seqlens)
        return layers.by_token(layers.states[-1])

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return the last layer (R, T, 2 D) for tokens (R, T); `token_mask` is False at the padding after them.

        Padding has no effect on other positions; outputs at padding are meaningless.
        """
        token_mask = torch.ones_like(tokens, dtype=torch.bool) if token_mask is None else token_mask
        cu_seqlens = F.pad(token_mask.sum(1).cumsum(0), (1, 0)).int()
        layers = self.layers(tokens[token_mask], cu_seqlens)
        padded = lambda state: state.new_zeros(*token_mask.shape, state.size(-1)).masked_scatter(
            token_mask[:, :, None], layers.by_token(state)
        )
        for probe, state in zip([self.embedded, *self.hidden], layers.states, strict=True):
            if cast(Probe, probe).has_listener:
                probe(padded(state))
        return padded(layers.states[-1])

    def pool(self, first: Tensor) -> Tensor:
        """Return the states of first tokens unchanged: there is no pooler."""
        return first

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) for the states of one direction (..., D)."""
        return self.head(self.dropout(hidden))

    def forward(self, tokens: Tensor, cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (R, T, V) of the next word, and of the previous word, of each word."""
        ahead, back = self.layers(tokens, cu_seqlens).states[-1].chunk(2, -1)
        return self.project(ahead), self.project(back)


def _lay_out(word: Tensor, cu_seqlens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the row and the column (W,) of each word, and the mask of words (R, T)."""
    starts = torch.cat((word, word[-1:] + 1))[cu_seqlens.long()]  # (R + 1,) the first word of each sequence
    row = torch.repeat_interleave(torch.arange(starts.numel() - 1, device=word.device), starts.diff())
    column = torch.arange(row.numel(), device=word.device) - starts[row]
    steps = torch.arange(int(starts.diff().max()), device=word.device)
    return row, column, steps < starts.diff()[:, None]


FAMILY = Family(ElmoSettings, Elmo, "bidirectional-lm")

"""ELMo (Peters et al., 2018): words from their characters, and a language model in either direction over them."""

from dataclasses import dataclass
from typing import Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.nn.layers.char_cnn import CharCnn, spell
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import VocabularyHead, build_table
from regard.nn.layers.recurrent import RecurrentLayer, turned, turned_places
from regard.nn.probes.probe import Probe

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


class ElmoSettings(ModelSettings):
    """Everything that shapes an ELMo but the words it can say."""

    family: Literal["elmo"] = "elmo"
    width: int = Field(512, ge=1)
    """Width of a word's vector, and of what each direction makes of it; both together are twice as wide."""
    cell_width: int = Field(4096, ge=2)
    """Width of the LSTMs' cells, whose outputs are projected to `width`."""
    layers: int = Field(2, ge=1, le=1024)
    """Stacked LSTMs of each direction; past the first, what a layer reads is added to what it says."""
    character_width: int = Field(16, ge=1)
    """Width of a character's vector."""
    filters: tuple[tuple[int, int], ...] = Field(FILTERS, min_length=1)
    """Convolutions over the characters of a word, as (characters they see, how many there are)."""
    highways: int = Field(2, ge=0)
    """Highway layers behind them."""
    longest_word: int = Field(50, ge=4)
    """Characters (bytes) of a word at most, the marks of its beginning and end included."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on what every layer reads, and on what words are said from."""

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
                    f"filters: [{size}, {count}] is no filter; the first number lies between 1 and "
                    f"{self.longest_word} (longest_word), the second is 1 or more."
                )
        return self


@dataclass(frozen=True)
class WordLayers:
    """What is known of each word, layer by layer: characters alone, then both directions of each LSTM."""

    states: list[Tensor]  # (R, T, 2 D)
    token_mask: Tensor  # (R, T) False at padding, which stands behind the words of a row
    word: Tensor  # (N,) the place of each token's word among all R * T

    def by_token(self, state: Tensor) -> Tensor:
        """Return a layer token by token (N, 2 D): all tokens of a word know the same."""
        return state.flatten(0, 1).index_select(0, self.word)


class Elmo(nn.Module):
    """Two stacks of LSTMs over words that are read as characters; both say words by the same scores.

    Its tokens are those of a `spelling_tokenizer`: bytes, of which the model makes words.
    """

    max_positions: int | None = None
    is_recordable = False
    """Shapes follow from the words, so that no CUDA graph can be replayed."""

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
        self.embedded = Probe()  # (R, T, 2 D) the words' vectors, twice beside each other, token by token
        self.hidden = nn.ModuleList(Probe() for _ in range(s.layers))  # (R, T, 2 D) both directions of each layer

    @property
    def vector_width(self) -> int:
        """Width of what heads are given: both directions."""
        return 2 * self.settings.width

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Layers that a task may mix: the characters', and those of the LSTMs."""
        return ("characters", *(f"lstm {number}" for number in range(1, 1 + self.settings.layers)))

    @property
    def layer_count(self) -> int:
        """How many layers a task may mix."""
        return len(self.layer_names)

    def layers(self, tokens: Tensor, bounds: Tensor) -> WordLayers:
        """Return all layers for sequences of tokens (N,) end to end; bounds (R + 1,) say where each begins."""
        spelled = spell(tokens, self.settings.longest_word)
        characters, kind = spelled.characters.unique(dim=0, return_inverse=True)  # most words occur again and again
        row, column, token_mask = _lay_out(spelled.word, bounds)
        words = self.characters(characters)  # (U, D)
        place = row * token_mask.size(1) + column  # (W,) of each word among all
        kinds = kind.new_zeros(token_mask.numel()).index_copy(0, place, kind)
        x = F.embedding(kinds, words).unflatten(
            0, token_mask.shape
        )  # (R, T, D); padding is some word, which nobody sees
        turn = turned_places(token_mask)
        ahead = self._run(self.ahead, x)
        back = [turned(each, turn) for each in self._run(self.back, turned(x, turn))]
        both = [torch.cat(pair, -1) for pair in zip([x, *ahead], [x, *back], strict=True)]
        return WordLayers(both, token_mask, place[spelled.word])

    def _run(self, stack: nn.ModuleList, x: Tensor) -> list[Tensor]:
        """Return the outputs (R, T, D) of all layers of one direction."""
        found: list[Tensor] = []
        for layer in stack:
            y, _ = layer(self.dropout(x))
            x = y + x if found else y
            found.append(x)
        return found

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, bounds: Tensor, longest: int
    ) -> Tensor:
        """Return the last layer token by token (N, 2 D), for sequences that lie end to end."""
        found = self.layers(tokens, bounds)
        return found.by_token(found.states[-1])

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return the last layer (R, T, 2 D) for tokens (R, T); `real` is False at the padding behind them.

        Padding changes nothing; whatever comes out at padding itself has no meaning.
        """
        token_mask = torch.ones_like(tokens, dtype=torch.bool) if token_mask is None else token_mask
        bounds = F.pad(token_mask.sum(1).cumsum(0), (1, 0)).int()
        found = self.layers(tokens[token_mask], bounds)
        spread = lambda state: state.new_zeros(*token_mask.shape, state.size(-1)).masked_scatter(
            token_mask[:, :, None], found.by_token(state)
        )
        for probe, state in zip([self.embedded, *self.hidden], found.states, strict=True):
            if cast(Probe, probe).is_heard:
                probe(spread(state))
        return spread(found.states[-1])

    def pool(self, first: Tensor) -> Tensor:
        """Return what is known of a whole text for the states of first tokens: no more than they are."""
        return first

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) for what one direction knows (..., D)."""
        return self.head(self.dropout(hidden))

    def forward(self, tokens: Tensor, bounds: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (R, T, V) of the word behind each word, and of the word before it."""
        ahead, back = self.layers(tokens, bounds).states[-1].chunk(2, -1)
        return self.project(ahead), self.project(back)


def _lay_out(word: Tensor, bounds: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the row and the column (W,) of each word, and which of all places are real (R, T)."""
    starts = torch.cat((word, word[-1:] + 1))[bounds.long()]  # (R + 1,) the first word of each sequence
    row = torch.repeat_interleave(torch.arange(starts.numel() - 1, device=word.device), starts.diff())
    column = torch.arange(row.numel(), device=word.device) - starts[row]
    steps = torch.arange(int(starts.diff().max()), device=word.device)
    return row, column, steps < starts.diff()[:, None]

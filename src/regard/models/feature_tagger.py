"""A small tagger over vectors that something else has made of words (Devlin et al., 2019, §5.3)."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.config.settings import Settings
from regard.data.encoding.frozen_features import VectorRows
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import build_linear


class FeatureTaggerSettings(Settings):
    """What shapes a tagger over vectors."""

    kind: Literal["bilstm", "linear"] = "bilstm"
    """An LSTM in both directions and a linear layer, or the linear layer alone, which sees one word at a time."""
    width: int = Field(128, ge=1, le=4096)
    """Width of the LSTM in each direction."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the vectors, and before the linear layer."""


class FeatureTagger(nn.Module):
    """Scores of tags for words that come as vectors."""

    kind = "token-classification"

    def __init__(self, settings: FeatureTaggerSettings, width: int, outputs: int) -> None:
        super().__init__()
        self.dropout = Dropout(settings.dropout)
        self.memory = nn.LSTM(width, settings.width, batch_first=True, bidirectional=True)
        if settings.kind == "linear":
            self.memory = None  # type: ignore[assignment]
        self.output = build_linear(width if settings.kind == "linear" else 2 * settings.width, outputs)

    def hidden_states(self, reading: VectorRows) -> Tensor:
        """Return what is known of every word (R * T, D), padding included."""
        x = self.dropout(reading.vectors)
        if self.memory is not None:
            lengths = reading.token_mask.sum(1).cpu()
            packed, _ = self.memory(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            x, _ = pad_packed_sequence(packed, batch_first=True, total_length=reading.token_mask.size(1))
            x = self.dropout(x)
        return x.flatten(0, 1)

    def head_outputs(self, hidden: Tensor, places: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return scores of tags (W, C) for the words at some places (W, 1), all of which are offered."""
        return self.output(hidden.index_select(0, places.flatten()))

    def forward(self, reading: VectorRows, places: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return scores of tags (W, C)."""
        return self.head_outputs(self.hidden_states(reading), places, candidate_mask)


def new_feature_tagger(settings: FeatureTaggerSettings, width: int, outputs: int, seed: int) -> FeatureTagger:
    """Return a fresh tagger."""
    torch.manual_seed(seed)
    return FeatureTagger(settings, width, outputs)

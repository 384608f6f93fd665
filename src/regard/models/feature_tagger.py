"""Tagger over frozen word features (Devlin et al., 2019, §5.3)."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.data.encoding.frozen_features import VectorRows
from regard.models.base.settings import FeatureTaggerSettings
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import build_linear


class FeatureTagger(nn.Module):
    """Tag logits for words given as feature vectors."""

    kind = "token-classification"

    def __init__(self, settings: FeatureTaggerSettings, width: int, outputs: int) -> None:
        super().__init__()
        self.dropout = Dropout(settings.dropout)
        self.memory = nn.LSTM(width, settings.width, batch_first=True, bidirectional=True)
        if settings.kind == "linear":
            self.memory = None  # type: ignore[assignment]
        self.output = build_linear(width if settings.kind == "linear" else 2 * settings.width, outputs)

    def hidden_states(self, reading: VectorRows) -> Tensor:
        """Return the hidden states (R * T, D) of all words, padding included."""
        x = self.dropout(reading.vectors)
        if self.memory is not None:
            lengths = reading.token_mask.sum(1).cpu()
            packed, _ = self.memory(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            x, _ = pad_packed_sequence(packed, batch_first=True, total_length=reading.token_mask.size(1))
            x = self.dropout(x)
        return x.flatten(0, 1)

    def head_outputs(self, hidden: Tensor, positions: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return tag logits (W, C) for the words at some positions (W, 1); `candidate_mask` is not used."""
        return self.output(hidden.index_select(0, positions.flatten()))

    def forward(self, reading: VectorRows, positions: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return tag logits (W, C) for the words at some positions (W, 1)."""
        return self.head_outputs(self.hidden_states(reading), positions, candidate_mask)


def new_feature_tagger(settings: FeatureTaggerSettings, width: int, outputs: int, seed: int) -> FeatureTagger:
    """Return a tagger initialized from a seed."""
    torch.manual_seed(seed)
    return FeatureTagger(settings, width, outputs)

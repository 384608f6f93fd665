"""A small head over any body: labels or a number for texts, a choice, tags for words, or a span that answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config import Settings
from regard.data.reading import Packed, Reading
from regard.nn import Dropout, build_linear

SPREAD = 0.02
"""Standard deviation of what is new in a model that has learned already."""

OF_WHOLE_TEXTS = ("labels", "number", "choices")
"""Kinds that look at the token which knows of the whole text; an encoder pools what it knows."""


class HeadSettings(Settings):
    """Everything that shapes a head but the width of its body."""

    kind: Literal["labels", "number", "likeness", "choices", "tags", "spans"] = "labels"
    """Scores of every label, or one number, for an example; the cosine of its two texts; one score for each choice;
    scores of every tag for each word; or how likely each token begins and ends the answer."""
    outputs: int = Field(ge=1)
    """How many labels or tags there are; 1 for numbers and choices, 2 for spans."""
    pooling: Literal["token", "mean"] = "token"
    """What stands for a whole text: the token that has seen all of it, or the mean of all tokens."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer."""


class Headed(nn.Module):
    """A body that reads, and a linear layer over what it knows at some of the tokens."""

    def __init__(self, body: Any, settings: HeadSettings, is_encoder: bool = False) -> None:
        super().__init__()
        self.body = body
        self.kind = settings.kind
        self.has_means = settings.pooling == "mean"
        self.pools = is_encoder and self.kind in OF_WHOLE_TEXTS and not self.has_means
        self.dropout = Dropout(settings.dropout)
        if self.kind != "likeness":  # which two vectors have without learning
            # A bias that all choices share would decide nothing.
            has_bias = self.kind not in ("choices", "spans")
            self.output = build_linear(body.head.weight.size(1), settings.outputs, has_bias)
            nn.init.normal_(self.output.weight, std=SPREAD)

    @property
    def max_positions(self) -> int | None:
        """The longest sequence it takes, None where there is no bound."""
        return self.body.max_positions

    @property
    def head(self) -> Any:
        """The body's own scores over the vocabulary."""
        return self.body.head

    def read(self, reading: Reading) -> Tensor:
        """Return the hidden states (M, D) of all tokens, end to end; those of padding have no meaning.

        Where the mean stands for a text, it is those of all sequences (R, D).
        """
        if isinstance(reading, Packed):
            where = (reading.segments, reading.positions, reading.bounds, reading.longest)
            hidden = self.body.read_packed(reading.tokens, *where)
            return sequence_means(hidden, reading.bounds) if self.has_means else hidden
        assert not self.has_means, "only an encoder's tokens have all seen as much as each other"
        return self.body.read(reading.tokens).flatten(0, 1)  # padding is behind, where nobody who reads on sees it

    def answer(self, hidden: Tensor, places: Tensor, offered: Tensor) -> Tensor:
        """Return scores of labels or tags (B, C), numbers or cosines (B,), of choices (B, K), or of ends (B, K, 2).

        `places` (B, K) are the hidden states (M, D) that are looked at. Those of one label are added before it is
        told, so that the order of a pair makes no difference when both are read; a choice that is not offered has
        the score -inf.
        """
        known = hidden.index_select(0, places.flatten()).unflatten(0, places.shape)  # (B, K, D)
        known = self.body.pool(known) if self.pools else known
        if self.kind == "likeness":
            return F.cosine_similarity(known[:, 0], known[:, 1], dim=1)
        if self.kind in ("choices", "spans"):
            scores = self.output(self.dropout(known)).masked_fill(~offered[:, :, None], -torch.inf)  # (B, K, 1 or 2)
            return scores.squeeze(2) if self.kind == "choices" else scores
        scores = self.output(self.dropout((known * offered[:, :, None]).sum(1)))  # (B, C)
        return scores.squeeze(1) if self.kind == "number" else scores

    def forward(self, reading: Reading, places: Tensor, offered: Tensor) -> Tensor:
        """Return the scores of what is asked for."""
        return self.answer(self.read(reading), places, offered)


def sequence_means(hidden: Tensor, bounds: Tensor) -> Tensor:
    """Return the mean (R, D) of the hidden states (N, D) of each of the sequences that lie end to end in them."""
    place = torch.arange(hidden.size(0), device=hidden.device)
    row = torch.searchsorted(bounds, place, right=True) - 1
    sums = hidden.new_zeros(bounds.numel() - 1, hidden.size(1)).index_add(0, row, hidden)
    return sums / bounds.diff()[:, None]


@torch.no_grad()
def take_over(model: Any, weights: Mapping[str, Tensor], new: Sequence[int] = ()) -> None:
    """Fill a model with the weights of another that knows fewer tokens; the vectors of `new` ones are drawn small."""
    places = model.state_dict(keep_vars=True)
    for name, known in weights.items():
        place = places[name]
        assert place.shape[1:] == known.shape[1:] and len(place) >= len(known), name
        place[: len(known)].copy_(known)
    rows = torch.tensor(list(new), dtype=torch.long)
    for table in {id(each): each for each in (model.embedding.table.weight, model.head.weight)}.values():
        table[rows] = torch.randn(len(rows), table.size(1)).to(table) * SPREAD
    if model.head.bias is not None:
        model.head.bias[rows] = 0.0

"""A small head over any body: labels for texts, or a choice among continuations (Radford et al., 2018, §3.2)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.config import Settings
from regard.nn import Dropout, build_linear

SPREAD = 0.02
"""Standard deviation of what is new in a model that has learned already."""


class HeadSettings(Settings):
    """Everything that shapes a head but the width of its body."""

    kind: Literal["labels", "choices"] = "labels"
    """Whether the sequences of an example get scores for every label together, or one score each."""
    outputs: int = Field(ge=1)
    """How many labels there are; 1 for choices."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer."""


class Headed(nn.Module):
    """A body that reads, and a linear layer over what it knows at one token of each sequence."""

    def __init__(self, body: Any, settings: HeadSettings) -> None:
        super().__init__()
        self.body = body
        self.kind = settings.kind
        self.dropout = Dropout(settings.dropout)
        # A bias that all choices share would decide nothing.
        self.output = build_linear(body.head.weight.size(1), settings.outputs, has_bias=self.kind == "labels")
        nn.init.normal_(self.output.weight, std=SPREAD)

    @property
    def max_positions(self) -> int | None:
        """The longest sequence it takes, None where there is no bound."""
        return self.body.max_positions

    @property
    def head(self) -> Any:
        """The body's own scores over the vocabulary."""
        return self.body.head

    def read(self, tokens: Tensor) -> Tensor:
        """Return hidden states (B * K, T, D); padding stands behind, where nobody who reads on sees it."""
        return self.body.read(tokens)

    def answer(self, hidden: Tensor, extracts: Tensor, offered: Tensor) -> Tensor:
        """Return scores of labels (B, C), or of choices (B, K) with -inf where none is offered.

        `extracts` (B * K,) are the steps of the hidden states that are looked at; those of an example are added
        before they are labelled, so that the order of a pair makes no difference when both are read.
        """
        places = torch.arange(hidden.size(0), device=hidden.device) * hidden.size(1) + extracts
        known = hidden.flatten(0, 1).index_select(0, places).unflatten(0, offered.shape)  # (B, K, D)
        if self.kind == "choices":
            scores = self.output(self.dropout(known)).squeeze(2)  # (B, K)
            return scores.masked_fill(~offered, -torch.inf)
        return self.output(self.dropout((known * offered[:, :, None]).sum(1)))  # (B, C)

    def forward(self, tokens: Tensor, extracts: Tensor, offered: Tensor) -> Tensor:
        """Return the scores of labels or choices."""
        return self.answer(self.read(tokens), extracts, offered)


@torch.no_grad()
def take_over(model: Any, weights: Mapping[str, Tensor], new: Sequence[int]) -> None:
    """Fill a model with the weights of another that knows fewer tokens; the vectors of `new` ones are drawn small."""
    places = model.state_dict(keep_vars=True)
    for name, known in weights.items():
        place = places[name]
        assert place.shape[1:] == known.shape[1:] and len(place) >= len(known), name
        place[: len(known)].copy_(known)
    rows = torch.tensor(list(new))
    for table in {id(each): each for each in (model.embedding.table.weight, model.head.weight)}.values():
        table[rows] = torch.randn(len(rows), table.size(1)).to(table) * SPREAD
    if model.head.bias is not None:
        model.head.bias[rows] = 0.0

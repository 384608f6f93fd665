"""A small head over any body: labels or a number for texts, a choice, tags for words, or a span that answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config.settings import Settings
from regard.data.encoding.inputs import Reading, VarlenInputs
from regard.models.elmo.word_states import WordRows, in_rows
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.hashed_embedding import HashedEmbedding
from regard.nn.layers.linear import build_linear
from regard.nn.layers.recurrent import BidirectionalLayer
from regard.nn.layers.scalar_mix import ScalarMix

SPREAD = 0.02
"""Standard deviation of what is new in a model that has learned already."""

OF_WHOLE_TEXTS = ("classification", "regression", "multiple-choice")
"""Kinds that look at the token which knows of the whole text; an encoder pools what it knows."""


class ExtraVectorsSettings(Settings):
    """Word vectors that are known by their spelling, beside what a body makes of letters."""

    words: int = Field(ge=1)
    width: int = Field(ge=1)
    freeze: bool = False
    """Whether they stay as they are, or are tuned with what is above them."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the vectors."""


class HeadSettings(Settings):
    """Everything that shapes a head but the width of its body."""

    kind: Literal[
        "classification", "regression", "similarity", "multiple-choice", "token-classification", "extractive-qa"
    ] = "classification"
    """Scores of every label, or one number, for an example; the cosine of its two texts; one score for each choice;
    scores of every tag for each word; or how likely each token begins and ends the answer."""
    outputs: int = Field(ge=1)
    """How many labels or tags there are; 1 for numbers and choices, 2 for spans."""
    pooling: Literal["token", "mean", "max"] = "token"
    """What stands for a whole text: the token that has seen all of it, or the mean or the largest values of all."""
    is_mixed: bool = False
    """Whether the body's layers are mixed, with weights that are learned; unset: its last layer is taken."""
    freeze_body: bool = False
    """Whether the body stays as it is, and only what is above it learns."""
    bilstm_width: int = Field(0, ge=0)
    """Width, in each direction, of an LSTM that reads what the body has made of the tokens; 0: there is none."""
    extra_vectors: ExtraVectorsSettings | None = None
    """Word vectors beside what the body knows of each word (Peters et al., 2018, §3.3); unset: there are none."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer."""


class ModelWithHead(nn.Module):
    """A body that reads, and a linear layer over what it knows at some of the tokens."""

    def __init__(self, body: Any, settings: HeadSettings, is_encoder: bool = False) -> None:
        super().__init__()
        self.body = body
        self.kind = settings.kind
        self.pooling = settings.pooling
        self.pools = is_encoder and self.kind in OF_WHOLE_TEXTS and self.pooling == "token"
        self.dropout = Dropout(settings.dropout)
        self.is_frozen = settings.freeze_body
        self.mix = ScalarMix(body.layer_count) if settings.is_mixed else None
        width = vector_width(body)
        self.beside: HashedEmbedding | None = None
        if settings.extra_vectors:
            self.beside = HashedEmbedding(settings.extra_vectors.words, settings.extra_vectors.width)
            self.beside.requires_grad_(not settings.extra_vectors.freeze)
            self.beside_dropout = Dropout(settings.extra_vectors.dropout)
            width += settings.extra_vectors.width
        if settings.bilstm_width:
            self.reader: BidirectionalLayer | None = BidirectionalLayer(
                "lstm", width, 2 * settings.bilstm_width, "concatenate"
            )
            width = 2 * settings.bilstm_width
        else:
            self.reader = None
        if self.kind != "similarity":  # which two vectors have without learning
            # A bias that all choices share would decide nothing.
            has_bias = self.kind not in ("multiple-choice", "extractive-qa")
            self.output = build_linear(width, settings.outputs, has_bias)
            nn.init.normal_(self.output.weight, std=SPREAD)
        if self.is_frozen:
            body.requires_grad_(False)

    @property
    def max_positions(self) -> int | None:
        """The longest sequence it takes, None where there is no bound."""
        return self.body.max_positions

    @property
    def is_recordable(self) -> bool:
        """Whether its shapes follow from those of a batch, so that a CUDA graph can be replayed."""
        return getattr(self.body, "is_recordable", True) and self.reader is None and self.pooling != "max"

    @property
    def layer_shares(self) -> dict[str, float] | None:
        """How much each layer of the body counts, and by how much all are scaled; None where only the last does."""
        if self.mix is None:
            return None
        names = [*self.body.layer_names, "scale"]
        values = [*self.mix.shares.tolist(), self.mix.scale.item()]
        return {name: round(value, 6) for name, value in zip(names, values, strict=True)}

    def train(self, mode: bool = True) -> "ModelWithHead":
        """Turn training on or off; a body that stays as it is never drops anything out."""
        super().train(mode)
        if self.is_frozen:
            self.body.eval()
        return self

    @property
    def head(self) -> Any:
        """The body's own scores over the vocabulary."""
        return self.body.head

    def hidden_states(self, reading: Reading) -> Tensor:
        """Return the hidden states (M, D) of all tokens, end to end; those of padding have no meaning.

        Where all tokens together stand for a text, it is those of all sequences (R, D).
        """
        if not isinstance(reading, VarlenInputs):
            assert self.pooling == "token", "only an encoder's tokens have all seen as much as each other"
            with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
                return self.body.hidden_states(reading.tokens).flatten(
                    0, 1
                )  # padding is behind, where nobody sees it
        if self.mix is None and self.reader is None and self.pooling != "max" and not hasattr(self.body, "layers"):
            hidden = self._read_body(reading)
            return sequence_means(hidden, reading.cu_seqlens) if self.pooling == "mean" else hidden
        rows = self._rows(reading)
        if self.reader is not None:
            rows = rows.of(self.reader(self.dropout(rows.states), rows.token_mask)[0])
        return rows.by_token() if self.pooling == "token" else rows.pooled(self.pooling)

    def _read_body(self, reading: VarlenInputs) -> Tensor:
        where = (reading.segments, reading.positions, reading.cu_seqlens, reading.max_seqlen)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            return self.body.hidden_states_varlen(reading.tokens, *where)

    def _rows(self, reading: VarlenInputs) -> WordRows:
        """Return what the body knows, a row each sequence: word by word, where it makes words of its tokens."""
        if not hasattr(self.body, "layers"):
            return in_rows(self._read_body(reading), reading.cu_seqlens)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            found = self.body.layers(reading.tokens, reading.cu_seqlens)
        states = found.states[-1] if self.mix is None else self.mix(found.states)
        if self.beside is not None:
            vectors = self.beside(reading.tokens, found.word, found.token_mask.numel()).unflatten(
                0, found.token_mask.shape
            )
            states = torch.cat((states, self.beside_dropout(vectors).to(states)), -1)
        return WordRows(states, found.token_mask, found.word)

    def head_outputs(self, hidden: Tensor, places: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return scores of labels or tags (B, C), numbers or cosines (B,), of choices (B, K), or of ends (B, K, 2).

        `places` (B, K) are the hidden states (M, D) that are looked at. Those of one label are added before it is
        told, so that the order of a pair makes no difference when both are read; a choice that is not offered has
        the score -inf.
        """
        known = hidden.index_select(0, places.flatten()).unflatten(0, places.shape)  # (B, K, D)
        known = self.body.pool(known) if self.pools else known
        if self.kind == "similarity":
            return F.cosine_similarity(known[:, 0], known[:, 1], dim=1)
        if self.kind in ("multiple-choice", "extractive-qa"):
            scores = self.output(self.dropout(known)).masked_fill(
                ~candidate_mask[:, :, None], -torch.inf
            )  # (B, K, 1 or 2)
            return scores.squeeze(2) if self.kind == "multiple-choice" else scores
        scores = self.output(self.dropout((known * candidate_mask[:, :, None]).sum(1)))  # (B, C)
        return scores.squeeze(1) if self.kind == "regression" else scores

    def forward(self, reading: Reading, places: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return the scores of what is asked for."""
        return self.head_outputs(self.hidden_states(reading), places, candidate_mask)


def sequence_means(hidden: Tensor, bounds: Tensor) -> Tensor:
    """Return the mean (R, D) of the hidden states (N, D) of each of the sequences that lie end to end in them."""
    place = torch.arange(hidden.size(0), device=hidden.device)
    row = torch.searchsorted(bounds, place, right=True) - 1
    sums = hidden.new_zeros(bounds.numel() - 1, hidden.size(1)).index_add(0, row, hidden)
    return sums / bounds.diff()[:, None]


def vector_width(body: Any) -> int:
    """Return the width of what a body hands to a head."""
    return int(getattr(body, "vector_width", 0) or body.head.weight.size(1))


@torch.no_grad()
def load_matching_weights(model: Any, weights: Mapping[str, Tensor], new: Sequence[int] = ()) -> None:
    """Fill a model with the weights of another that knows fewer tokens; the vectors of `new` ones are drawn small."""
    places = model.state_dict(keep_vars=True)
    for name, known in weights.items():
        place = places[name]
        assert place.shape[1:] == known.shape[1:] and len(place) >= len(known), name
        place[: len(known)].copy_(known)
    if not new:
        return
    rows = torch.tensor(list(new), dtype=torch.long)
    for table in {id(each): each for each in (model.embedding.table.weight, model.head.weight)}.values():
        table[rows] = torch.randn(len(rows), table.size(1)).to(table) * SPREAD
    if model.head.bias is not None:
        model.head.bias[rows] = 0.0

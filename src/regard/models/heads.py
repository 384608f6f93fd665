"""Task heads over any body: classification, regression, similarity, multiple choice, tagging, extractive QA."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.encoding.inputs import Reading, VarlenInputs
from regard.models.adapters import layer_groups
from regard.models.base.settings import HeadSettings
from regard.models.elmo.word_states import WordRows, in_rows
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.hashed_embedding import HashedEmbedding
from regard.nn.layers.linear import build_linear
from regard.nn.layers.recurrent import BidirectionalLayer
from regard.nn.layers.scalar_mix import ScalarMix

SPREAD = 0.02
"""Standard deviation of new weights in a pretrained model."""

POOLED_KINDS = ("classification", "regression", "multiple-choice")
"""Heads over one token that represents the whole text; an encoder's goes through its pooler."""


class ModelWithHead(nn.Module):
    """A body, and a linear head over its hidden states at some positions."""

    def __init__(self, body: Any, settings: HeadSettings, is_encoder: bool = False) -> None:
        super().__init__()
        self.body = body
        self.kind = settings.kind
        self.pooling = settings.pooling
        self.pools = is_encoder and self.kind in POOLED_KINDS and self.pooling == "token"
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
        if self.kind != "similarity":  # which needs no output layer
            # A bias shared by all choices has no effect.
            has_bias = self.kind not in ("multiple-choice", "extractive-qa")
            self.output = build_linear(width, settings.outputs, has_bias)
            nn.init.normal_(self.output.weight, std=SPREAD)
        if self.is_frozen:
            body.requires_grad_(False)
        self.unfreezing = 0.0
        self._frozen: list[list[nn.Parameter]] = []

    def unfreeze_gradually(self, fraction: float) -> None:
        """Freeze the body; its layers are trained again one after the other, top first, in that fraction of a run."""
        self.unfreezing, self._frozen = fraction, layer_groups(self.body)
        self.advance(0.0)

    def advance(self, progress: float) -> None:
        """Unfreeze the layers whose time has come, for the fraction of training that is done."""
        for number, group in enumerate(self._frozen, start=1):
            is_trained = progress * len(self._frozen) >= number * self.unfreezing
            for parameter in group:
                parameter.requires_grad_(is_trained)

    @property
    def max_positions(self) -> int | None:
        """Maximum sequence length in tokens; None: no limit."""
        return self.body.max_positions

    @property
    def supports_cuda_graphs(self) -> bool:
        """True if all shapes follow from those of a batch, so that a CUDA graph can be replayed."""
        is_static = self.reader is None and self.pooling != "max" and not self.unfreezing
        return getattr(self.body, "supports_cuda_graphs", True) and is_static

    @property
    def layer_weights(self) -> dict[str, float] | None:
        """The scalar mix's weight of each layer of the body, and its scale; None without a mix."""
        if self.mix is None:
            return None
        names = [*self.body.layer_names, "scale"]
        values = [*self.mix.shares.tolist(), self.mix.scale.item()]
        return {name: round(value, 6) for name, value in zip(names, values, strict=True)}

    def train(self, mode: bool = True) -> "ModelWithHead":
        """Set training or evaluation mode; a frozen body stays in evaluation mode, without dropout."""
        super().train(mode)
        if self.is_frozen:
            self.body.eval()
        return self

    @property
    def head(self) -> Any:
        """The body's output projection."""
        return self.body.head

    def hidden_states(self, reading: Reading) -> Tensor:
        """Return the hidden states (M, D) of all tokens, concatenated; those of padding are meaningless.

        With mean or max pooling, return those of all sequences (R, D) instead.
        """
        if not isinstance(reading, VarlenInputs):
            assert self.pooling == "token", "mean and max pooling need an encoder"
            with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
                return self.body.hidden_states(reading.tokens).flatten(0, 1)  # causal: padding after has no effect
        if self.mix is None and self.reader is None and self.pooling != "max" and not hasattr(self.body, "layers"):
            hidden = self._body_states(reading)
            return sequence_means(hidden, reading.cu_seqlens) if self.pooling == "mean" else hidden
        rows = self._rows(reading)
        if self.reader is not None:
            rows = rows.of(self.reader(self.dropout(rows.states), rows.token_mask)[0])
        return rows.by_token() if self.pooling == "token" else rows.pooled(self.pooling)

    def _body_states(self, reading: VarlenInputs) -> Tensor:
        layout = (reading.segments, reading.positions, reading.cu_seqlens, reading.max_seqlen)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            return self.body.hidden_states_varlen(reading.tokens, *layout)

    def _rows(self, reading: VarlenInputs) -> WordRows:
        """Return the body's states, a row for each sequence; of words, where the body composes them from tokens."""
        if not hasattr(self.body, "layers"):
            return in_rows(self._body_states(reading), reading.cu_seqlens)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            layers = self.body.layers(reading.tokens, reading.cu_seqlens)
        states = layers.states[-1] if self.mix is None else self.mix(layers.states)
        if self.beside is not None:
            vectors = self.beside(reading.tokens, layers.word, layers.token_mask.numel())
            vectors = vectors.unflatten(0, layers.token_mask.shape)
            states = torch.cat((states, self.beside_dropout(vectors).to(states)), -1)
        return WordRows(states, layers.token_mask, layers.word)

    def head_outputs(self, hidden: Tensor, positions: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return logits of labels or tags (B, C), choices (B, K) or spans (B, K, 2), or numbers or cosines (B,).

        `positions` (B, K) index the hidden states (M, D). Those of one example are summed before classification, so
        that the order of a pair read in both orders has no effect; a masked candidate has the logit -inf.
        """
        states = hidden.index_select(0, positions.flatten()).unflatten(0, positions.shape)  # (B, K, D)
        states = self.body.pool(states) if self.pools else states
        if self.kind == "similarity":
            return F.cosine_similarity(states[:, 0], states[:, 1], dim=1)
        if self.kind in ("multiple-choice", "extractive-qa"):
            scores = self.output(self.dropout(states))  # (B, K, 1 or 2)
            scores = scores.masked_fill(~candidate_mask[:, :, None], -torch.inf)
            return scores.squeeze(2) if self.kind == "multiple-choice" else scores
        scores = self.output(self.dropout((states * candidate_mask[:, :, None]).sum(1)))  # (B, C)
        return scores.squeeze(1) if self.kind == "regression" else scores

    def forward(self, reading: Reading, positions: Tensor, candidate_mask: Tensor) -> Tensor:
        """Return the head's outputs (see `head_outputs`)."""
        return self.head_outputs(self.hidden_states(reading), positions, candidate_mask)


def sequence_means(hidden: Tensor, cu_seqlens: Tensor) -> Tensor:
    """Return the mean (R, D) of the hidden states (N, D) of each of some concatenated sequences."""
    position = torch.arange(hidden.size(0), device=hidden.device)
    row = torch.searchsorted(cu_seqlens, position, right=True) - 1
    sums = hidden.new_zeros(cu_seqlens.numel() - 1, hidden.size(1)).index_add(0, row, hidden)
    return sums / cu_seqlens.diff()[:, None]


def vector_width(body: Any) -> int:
    """Return the width of the states that a body passes to a head."""
    return int(getattr(body, "vector_width", 0) or body.head.weight.size(1))


@torch.no_grad()
def load_matching_weights(model: Any, weights: Mapping[str, Tensor], new: Sequence[int] = ()) -> None:
    """Copy the weights of a model with a smaller vocabulary into another; `new` tokens get small random vectors."""
    targets = model.state_dict(keep_vars=True)
    for name, weight in weights.items():
        target = targets[name]
        assert target.shape[1:] == weight.shape[1:] and len(target) >= len(weight), name
        target[: len(weight)].copy_(weight)
    if not new:
        return
    rows = torch.tensor(list(new), dtype=torch.long)
    for table in {id(each): each for each in (model.embedding.table.weight, model.head.weight)}.values():
        table[rows] = torch.randn(len(rows), table.size(1)).to(table) * SPREAD
    if model.head.bias is not None:
        model.head.bias[rows] = 0.0

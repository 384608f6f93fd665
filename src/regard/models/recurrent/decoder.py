"""The decoder of recurrent models, fused over the whole target unless its settings require single steps."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config.settings import Settings
from regard.models.base.joining import joined
from regard.models.recurrent.decoder_loop import Loop, ScheduledSampling
from regard.nn.attention.alignment import AlignedAttention, AlignmentKind, build_alignment
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import TokenEmbedding
from regard.nn.layers.linear import build_linear
from regard.nn.layers.recurrent import CELLS, CellKind, LayerState, RecurrentLayer


class DecoderSettings(Settings):
    """Architecture of the decoder, and its connection to the encoder."""

    width: int = Field(512, ge=1)
    """Width of encoder and decoder states."""
    embedding_width: int | None = Field(None, ge=1)
    """Width of the embeddings and of the input of the output projection (default: width)."""
    cell: CellKind = "gru"
    """Recurrent cell: plain RNN, LSTM or GRU."""
    decoder_layers: int = Field(1, ge=1, le=1024)
    """Number of stacked decoder layers."""
    context: Literal["once", "every-step"] = "every-step"
    """Without attention, use of the source summary. once: as initial state; every-step: as input of each step too."""
    alignment: Literal["none", AlignmentKind] = "none"
    """Attention score between decoder and encoder states; none: no attention, the summary alone."""
    alignment_width: int | None = Field(None, ge=1)
    """Inner width of the additive score (default: width)."""
    max_positions: int = Field(256, ge=1)
    """Maximum number of source positions of location-based attention."""
    attends: Literal["before", "after"] = "before"
    """before: attention with s_{i-1}, its context an input of the step (Bahdanau); after: with s_i (Luong)."""
    has_input_feeding: bool = False
    """Feed the previous step's attentional output into the next step (Luong et al., 2015, §3.3)."""
    teacher_forcing: float = Field(1.0, ge=0, le=1)
    """Fraction of training steps with the reference token as input instead of the model's own prediction."""
    final_teacher_forcing: float | None = Field(None, ge=0, le=1)
    """That fraction at the end of training, reached linearly (Bengio et al., 2015) (default: constant)."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on the output of every layer, and on the input of the output projection."""

    @model_validator(mode="after")
    def _choices_fit(self) -> "DecoderSettings":
        if self.alignment != "none" and self.context == "once":
            raise ValueError(
                'context: "once" applies to models without attention, which computes a context at every step; omit '
                'it, or set alignment to "none".'
            )
        if self.has_input_feeding and (self.alignment == "none" or self.attends == "before"):
            raise ValueError(
                'has_input_feeding: true needs attention after the step; set attends to "after", and an alignment.'
            )
        return self

    @property
    def width_of_embedding(self) -> int:
        """The embedding width, with its default applied."""
        return self.embedding_width or self.width

    @property
    def reads_context(self) -> bool:
        """True if a context is an input of each step."""
        return self.attends == "before" if self.alignment != "none" else self.context == "every-step"


@dataclass
class RecurrentMemory:
    """The encoder's states and their summary, with what the decoder's steps need of them precomputed."""

    states: Tensor  # (B, S, D)
    token_mask: Tensor  # (B, S)
    summary: Tensor  # (B, D)
    bias: Tensor  # (B, 1, S) -inf at padding
    begin: tuple[Tensor, ...] = ()  # (B, layers, D), the decoder's initial h, and an LSTM's initial C
    keys: Tensor | None = None  # (B, S, A)
    to_gates: Tensor | None = None  # (B, S, gates * D) the contribution of each state to the gates
    to_readout: Tensor | None = None  # (B, S, E) its contribution to the readout

    def select(self, rows: Tensor) -> "RecurrentMemory":
        """Return the memory of some sentences."""
        changes: dict[str, Any] = {"begin": tuple(each.index_select(0, rows) for each in self.begin)}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensor):
                changes[field.name] = value.index_select(0, rows)
        return replace(self, **changes)

    def join(self, other: "RecurrentMemory") -> "RecurrentMemory":
        """Return the memory of these sentences and then those of another one."""
        changes: dict[str, Any] = {"begin": tuple(map(torch.cat, zip(self.begin, other.begin, strict=True)))}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensor):
                dim, padding = (2, -torch.inf) if field.name == "bias" else (1, 0.0)
                changes[field.name] = joined(value, getattr(other, field.name), dim, padding)
        return replace(self, **changes)


@dataclass
class RecurrentState:
    """The decoder's state between steps, one row for each hypothesis; updated in place."""

    layers: list[LayerState] | None = None  # (R, D) each
    fed: Tensor | None = None  # (R, E) the previous readout, for input feeding

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> "RecurrentState":
        """Return the state of some hypotheses."""
        if self.layers is None:
            return self
        layers = [tuple(each.index_select(0, hypotheses) for each in layer) for layer in self.layers]
        return RecurrentState(layers, None if self.fed is None else self.fed.index_select(0, hypotheses))

    def join(self, other: "RecurrentState") -> "RecurrentState":
        """Return the state of these rows and then those of another batch."""
        assert self.layers is not None and other.layers is not None, "decoding has begun"
        pairs = zip(self.layers, other.layers, strict=True)
        layers = [tuple(map(torch.cat, zip(own, theirs, strict=True))) for own, theirs in pairs]
        fed = None if self.fed is None or other.fed is None else torch.cat((self.fed, other.fed))
        return RecurrentState(layers, fed)


class RecurrentDecoder(nn.Module):
    """s_t = f(s_{t-1}, y_{t-1}, c) in stacked layers, and the readout g(y_{t-1}, s_t, c)."""

    def __init__(self, settings: DecoderSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.settings = s = settings
        D, E = s.width, s.width_of_embedding
        inputs = E + D * s.reads_context + E * s.has_input_feeding
        self.embedding = embedding
        self.layers = nn.ModuleList(
            RecurrentLayer(s.cell, D if number else inputs, D) for number in range(s.decoder_layers)
        )
        self.bridge = build_linear(D, CELLS[s.cell].states * s.decoder_layers * D)
        self.cross: AlignedAttention | None = None
        if s.alignment != "none":
            self.cross = AlignedAttention(build_alignment(s.alignment, D, s.alignment_width or D, s.max_positions))
        self.has_context = self.cross is not None or s.context == "every-step"
        self.readout = build_linear(D + E + D * self.has_context, E)
        self.dropout = Dropout(s.dropout)

    @property
    def uses_scheduled_sampling(self) -> bool:
        """True if some steps get the model's own predictions as input."""
        first, last = self.settings.teacher_forcing, self.settings.final_teacher_forcing
        return self.training and (first < 1 or (last is not None and last < 1))

    def prepare(self, memory: RecurrentMemory) -> None:
        """Precompute the initial state and the projections that are the same for all steps."""
        s, states = self.settings, memory.states
        D, E = s.width, s.width_of_embedding
        begin = self.bridge(memory.summary).tanh().to(self.bridge.weight.dtype)
        memory.begin = begin.unflatten(1, (-1, s.decoder_layers, D)).unbind(1)
        if self.cross is not None:
            memory.keys = self.cross.alignment.keys(states)
            if s.reads_context:  # (Σ α h) W = Σ α (h W)
                memory.to_gates = F.linear(states, self._layer(0).input_weight[:, E : E + D])
            if s.has_input_feeding or self.uses_scheduled_sampling:
                memory.to_readout = F.linear(states, self.readout.weight[:, D + E :])

    def _layer(self, number: int) -> RecurrentLayer:
        return cast(RecurrentLayer, self.layers[number])

    def forward(
        self,
        target: Tensor,
        memory: RecurrentMemory,
        state: RecurrentState,
        scheduled: ScheduledSampling | None = None,
    ) -> Tensor:
        """Return the readouts (R, T, E) of target tokens (R, T)."""
        s = self.settings
        if state.layers is None:
            hypotheses = target.size(0) // memory.token_mask.size(0)
            begin = [each.repeat_interleave(hypotheses, 0) if hypotheses > 1 else each for each in memory.begin]
            state.layers = [tuple(each[:, number] for each in begin) for number in range(s.decoder_layers)]
        attends_before = self.cross is not None and s.attends == "before"
        if attends_before or s.has_input_feeding or scheduled is not None:
            with torch.autocast(target.device.type, enabled=False):  # rounding errors accumulate over steps
                return Loop(self, memory, state, target, scheduled).run()
        x = self.embedding(target, target)  # (R, T, E)
        context = self._summaries(memory, x) if s.reads_context else None
        h = x if context is None else torch.cat((x, context.to(x.dtype)), -1)
        for number, layer in enumerate(self.layers):
            h, state.layers[number] = layer(self.dropout(h) if number else h, state.layers[number])
        if self.cross is not None:
            assert memory.keys is not None
            # Hypotheses of one sentence are further queries to the same keys.
            together = h.reshape(memory.token_mask.size(0), -1, h.size(-1))
            context = self.cross(together, memory.keys, memory.states, memory.bias).view_as(h)
        return self.read_out(h, x, context)

    def _summaries(self, memory: RecurrentMemory, x: Tensor) -> Tensor:
        """Return the source summary, repeated at each step (R, T, D)."""
        hypotheses = x.size(0) // memory.token_mask.size(0)
        return memory.summary.repeat_interleave(hypotheses, 0)[:, None].expand(-1, x.size(1), -1)

    def read_out(self, h: Tensor, x: Tensor, context: Tensor | None) -> Tensor:
        """Return the readout (R, T, E) of states, embeddings and contexts (R, T, ·)."""
        parts = (h, x.to(h.dtype)) if context is None else (h, x.to(h.dtype), context.to(h.dtype))
        return self.dropout(self.readout(torch.cat(parts, -1)).tanh())

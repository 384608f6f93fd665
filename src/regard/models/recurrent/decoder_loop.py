"""Step-by-step pass of a recurrent decoder; projections that all steps share are computed once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.loop_linear import LoopLinear
from regard.nn.layers.recurrent import RecurrentLayer

if TYPE_CHECKING:
    from regard.models.recurrent.decoder import RecurrentDecoder, RecurrentMemory, RecurrentState


@dataclass(frozen=True)
class ScheduledSampling:
    """Scheduled sampling: some steps get the model's own prediction as input instead of the reference token."""

    teacher_forcing: Tensor
    """Fraction of reference tokens."""
    head: VocabularyHead

    def inputs(self, readout: Tensor, reference: Tensor) -> Tensor:
        """Return the next input tokens (B,): reference tokens, or the most probable after a readout (B, E)."""
        predicted = self.head(readout.detach()).argmax(-1)
        is_reference = torch.rand(reference.shape, device=reference.device) < self.teacher_forcing
        return torch.where(is_reference, reference, predicted)


class Loop:
    """The steps of one pass, with attention before the step, input feeding or scheduled sampling."""

    def __init__(
        self,
        decoder: "RecurrentDecoder",
        memory: "RecurrentMemory",
        state: "RecurrentState",
        target: Tensor,
        scheduled: ScheduledSampling | None,
    ) -> None:
        self.decoder, self.memory, self.state, self.target, self.scheduled = decoder, memory, state, target, scheduled
        s = decoder.settings
        self.layers = [cast(RecurrentLayer, layer) for layer in decoder.layers]
        self.D, self.E = D, E = s.width, s.width_of_embedding
        self.B, self.dtype = memory.token_mask.size(0), decoder.readout.weight.dtype
        first, readout = self.layers[0], decoder.readout
        self.from_hidden = [self._repeated(layer.hidden_weight, layer.hidden_bias) for layer in self.layers]
        self.from_below = [self._repeated(layer.input_weight, layer.input_bias) for layer in self.layers[1:]]
        self.to_gates, self.to_readout = self._attended(memory.to_gates), self._attended(memory.to_readout)
        self.keys = None if memory.keys is None else memory.keys.to(self.dtype)
        query = None if decoder.cross is None else decoder.cross.alignment.query
        self.to_query = None if query is None else self._repeated(query.weight, query.bias)
        self.from_fed = self._repeated(first.input_weight[:, -E:]) if s.has_input_feeding else None
        self.reads_each_step = s.has_input_feeding or scheduled is not None
        self.from_top = self._repeated(readout.weight[:, :D]) if self.reads_each_step else None
        self._prepare_embeddings(
            first.input_weight[:, :E], first.input_bias, readout.weight[:, D : D + E], readout.bias
        )

    def _repeated(self, weight: Tensor, bias: Tensor | None = None) -> LoopLinear:
        return LoopLinear(weight.t(), bias, self.target.size(1), self.target.size(0))

    def _attended(self, values: Tensor | None) -> LoopLinear | None:
        return None if values is None else LoopLinear(values.to(self.dtype), None, *self.target.t().shape)

    def _prepare_embeddings(
        self, to_gates: Tensor, gates_bias: Tensor, to_readout: Tensor, readout_bias: Tensor
    ) -> None:
        """Project the embeddings of all tokens at once where they are given, or prepare to do it step by step."""
        gates, reads = None, None  # the contribution of a summary at every step
        if self.decoder.cross is None and self.decoder.settings.reads_context:
            summary = self.memory.summary.to(self.dtype)
            gates = F.linear(summary, self.layers[0].input_weight[:, self.E : self.E + self.D])
            reads = F.linear(summary, self.decoder.readout.weight[:, self.D + self.E :])
        self.constant = gates, reads
        if self.scheduled is not None:
            self.from_token = self._repeated(to_gates, gates_bias), self._repeated(to_readout, readout_bias)
            return
        self.x = self.decoder.embedding(self.target, self.target)  # (R, T, E)
        self.token_gates = F.linear(self.x, to_gates, gates_bias).unbind(1)
        self.token_reads = F.linear(self.x, to_readout, readout_bias).unbind(1) if self.reads_each_step else None

    def _token(self, step: int, readouts: list[Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return the contribution of a step's input token to its gates and to its readout."""
        if self.scheduled is None:
            return self.token_gates[step], None if self.token_reads is None else self.token_reads[step]
        reference = self.target[:, step]
        token = self.scheduled.inputs(readouts[-1], reference) if step else reference
        x = self.decoder.embedding(token, token)
        gates, read = (product(x) for product in self.from_token)
        gates = gates if self.constant[0] is None else gates + self.constant[0]
        return gates, read if self.constant[1] is None else read + self.constant[1]

    def _weights(self, h: Tensor) -> Tensor:
        """Return the attention weights (B, hypotheses, S) of states (R, D)."""
        assert self.decoder.cross is not None and self.keys is not None
        query = h if self.to_query is None else self.to_query(h)
        query = query.view(self.B, -1, query.size(-1))
        return self.decoder.cross.weigh(query, self.keys, self.memory.bias).to(self.dtype)

    def run(self) -> Tensor:
        """Return the readouts (R, T, E), and update the state to that after the last step."""
        decoder, state, cross = self.decoder, self.state, self.decoder.cross
        assert state.layers is not None
        tops: list[Tensor] = []
        attention: list[Tensor] = []
        readouts: list[Tensor] = []
        for step in range(self.target.size(1)):
            gates, read = self._token(step, readouts)
            if self.to_gates is not None:
                attention.append(self._weights(state.layers[-1][0]))
                gates = gates + self.to_gates(attention[-1]).view_as(gates)
            if self.from_fed is not None:
                fed = state.fed if state.fed is not None else gates.new_zeros(gates.size(0), self.E)
                gates = gates + self.from_fed(fed)
            for number, layer in enumerate(self.layers):
                if number:
                    gates = self.from_below[number - 1](decoder.dropout(state.layers[number - 1][0]))
                before = state.layers[number]
                state.layers[number] = layer.cell.step(gates, self.from_hidden[number](before[0]), before)
            tops.append(state.layers[-1][0])
            if cross is not None and self.to_gates is None:
                attention.append(self._weights(tops[-1]))
            if self.from_top is not None:
                assert read is not None
                read = read + self.from_top(tops[-1])
                if self.to_readout is not None:
                    read = read + self.to_readout(attention[-1]).view_as(read)
                readouts.append(read.tanh())
                state.fed = readouts[-1] if self.from_fed is not None else None
        if cross is None:
            return decoder.dropout(torch.stack(readouts, 1))
        # Hypotheses of one sentence are further queries to the same keys: (T, B, hypotheses, S) to (B, h * T, S).
        weights = torch.stack(attention, 2).flatten(1, 2)
        cross.tell(weights)
        if readouts:
            return decoder.dropout(torch.stack(readouts, 1))
        h = torch.stack(tops, 1)
        context = (weights @ self.memory.states.to(self.dtype)).view_as(h)
        return decoder.read_out(h, self.x, context)

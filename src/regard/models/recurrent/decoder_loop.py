"""One pass of a recurrent decoder that must go step by step; what all steps have in common is made once."""

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
    """The model's own words in the place of the right ones at some steps: so it learns to go on from its mistakes."""

    share: Tensor
    """Of right words."""
    head: VocabularyHead

    def following(self, readout: Tensor, right: Tensor) -> Tensor:
        """Return the words (B,) to go on with: the right ones, or the likeliest after a readout (B, E)."""
        own = self.head(readout.detach()).argmax(-1)
        return torch.where(torch.rand(right.shape, device=right.device) < self.share, right, own)


class Loop:
    """The steps of one pass: attention before them, input feeding, or a model that reads its own words."""

    def __init__(
        self,
        decoder: "RecurrentDecoder",
        memory: "RecurrentMemory",
        state: "RecurrentState",
        target: Tensor,
        own_words: ScheduledSampling | None,
    ) -> None:
        self.decoder, self.memory, self.state, self.target, self.own_words = decoder, memory, state, target, own_words
        s = decoder.settings
        self.layers = [cast(RecurrentLayer, layer) for layer in decoder.layers]
        self.D, self.E = D, E = s.width, s.width_of_embedding
        self.B, self.dtype = memory.token_mask.size(0), decoder.readout.weight.dtype
        first, readout = self.layers[0], decoder.readout
        self.from_hidden = [self._again(layer.hidden_weight, layer.hidden_bias) for layer in self.layers]
        self.from_below = [self._again(layer.input_weight, layer.input_bias) for layer in self.layers[1:]]
        self.to_gates, self.to_readout = self._attended(memory.to_gates), self._attended(memory.to_readout)
        self.keys = None if memory.keys is None else memory.keys.to(self.dtype)
        query = None if decoder.cross is None else decoder.cross.alignment.query
        self.to_query = None if query is None else self._again(query.weight, query.bias)
        self.from_fed = self._again(first.input_weight[:, -E:]) if s.has_input_feeding else None
        self.reads_each_step = s.has_input_feeding or own_words is not None
        self.from_top = self._again(readout.weight[:, :D]) if self.reads_each_step else None
        self._take_words(first.input_weight[:, :E], first.input_bias, readout.weight[:, D : D + E], readout.bias)

    def _again(self, weight: Tensor, bias: Tensor | None = None) -> LoopLinear:
        return LoopLinear(weight.t(), bias, self.target.size(1), self.target.size(0))

    def _attended(self, values: Tensor | None) -> LoopLinear | None:
        return None if values is None else LoopLinear(values.to(self.dtype), None, *self.target.t().shape)

    def _take_words(self, to_gates: Tensor, gates_bias: Tensor, to_readout: Tensor, readout_bias: Tensor) -> None:
        """Multiply the embeddings of all words at once where they are known, or make ready to do it step by step."""
        gates, reads = None, None  # what a summary adds at every step
        if self.decoder.cross is None and self.decoder.settings.reads_context:
            summary = self.memory.summary.to(self.dtype)
            gates = F.linear(summary, self.layers[0].input_weight[:, self.E : self.E + self.D])
            reads = F.linear(summary, self.decoder.readout.weight[:, self.D + self.E :])
        self.constant = gates, reads
        if self.own_words is not None:
            self.from_word = self._again(to_gates, gates_bias), self._again(to_readout, readout_bias)
            return
        self.x = self.decoder.embedding(self.target, self.target)  # (R, T, E)
        self.word_gates = F.linear(self.x, to_gates, gates_bias).unbind(1)
        self.word_reads = F.linear(self.x, to_readout, readout_bias).unbind(1) if self.reads_each_step else None

    def _word(self, step: int, readouts: list[Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return what the word of a step adds to its gates, and to its readout."""
        if self.own_words is None:
            return self.word_gates[step], None if self.word_reads is None else self.word_reads[step]
        right = self.target[:, step]
        word = self.own_words.following(readouts[-1], right) if step else right
        x = self.decoder.embedding(word, word)
        gates, read = (product(x) for product in self.from_word)
        gates = gates if self.constant[0] is None else gates + self.constant[0]
        return gates, read if self.constant[1] is None else read + self.constant[1]

    def _weights(self, h: Tensor) -> Tensor:
        """Return the attention (B, hypotheses, S) of a state (R, D)."""
        assert self.decoder.cross is not None and self.keys is not None
        query = h if self.to_query is None else self.to_query(h)
        query = query.view(self.B, -1, query.size(-1))
        return self.decoder.cross.weigh(query, self.keys, self.memory.bias).to(self.dtype)

    def run(self) -> Tensor:
        """Return what scores are made from (R, T, E), and leave the state after the last step."""
        decoder, state, cross = self.decoder, self.state, self.decoder.cross
        assert state.layers is not None
        tops: list[Tensor] = []
        looks: list[Tensor] = []
        readouts: list[Tensor] = []
        for step in range(self.target.size(1)):
            gates, read = self._word(step, readouts)
            if self.to_gates is not None:
                looks.append(self._weights(state.layers[-1][0]))
                gates = gates + self.to_gates(looks[-1]).view_as(gates)
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
                looks.append(self._weights(tops[-1]))
            if self.from_top is not None:
                assert read is not None
                read = read + self.from_top(tops[-1])
                if self.to_readout is not None:
                    read = read + self.to_readout(looks[-1]).view_as(read)
                readouts.append(read.tanh())
                state.fed = readouts[-1] if self.from_fed is not None else None
        if cross is None:
            return decoder.dropout(torch.stack(readouts, 1))
        # Hypotheses of one sentence are further queries to the same keys: (T, B, hypotheses, S) to (B, h * T, S).
        weights = torch.stack(looks, 2).flatten(1, 2)
        cross.tell(weights)
        if readouts:
            return decoder.dropout(torch.stack(readouts, 1))
        h = torch.stack(tops, 1)
        context = (weights @ self.memory.states.to(self.dtype)).view_as(h)
        return decoder.read_out(h, self.x, context)

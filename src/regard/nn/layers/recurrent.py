"""Recurrent layers: step equations, torch's fused kernels over sequences, and bidirectional layers."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.nn.layers.linear import build_linear

CellKind = Literal["rnn", "lstm", "gru"]
Join = Literal["concatenate", "sum", "layer"]

LayerState = tuple[Tensor, ...]
"""The recurrent state of a layer, (B, D) each: the hidden state h, and for an LSTM the cell state C."""


def rnn_step(x: Tensor, h: Tensor, state: LayerState) -> LayerState:
    """Return h_t = tanh(W_x x_t + W_h h_{t-1} + b) (Elman, 1990); x and h are the two products (B, D)."""
    return (torch.tanh(x + h),)


def lstm_step(x: Tensor, h: Tensor, state: LayerState) -> LayerState:
    """Return h_t and C_t (Hochreiter & Schmidhuber, 1997; with the forget gate of Gers et al., 2000).

    i, f, o = σ(W_x x + W_h h + b), C~ = tanh(W_x x + W_h h + b), C_t = f ∘ C_{t-1} + i ∘ C~, h_t = o ∘ tanh(C_t);
    the two products (B, 4 D) hold i, f, C~ and o, in this order.
    """
    return lstm_update(lstm_gates(x, h), state[1])


def lstm_update(gates: tuple[Tensor, ...], cell: Tensor) -> LayerState:
    """Return h_t and C_t of the gates i, f, C~ and o, and C_{t-1}."""
    i, f, candidate, o = gates
    cell = f * cell + i * candidate
    return o * cell.tanh(), cell


def lstm_gates(x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    """Return i, f, C~ and o (..., D) of an LSTM, from its two products (..., 4 D)."""
    i, f, candidate, o = (x + h).chunk(4, -1)
    return i.sigmoid(), f.sigmoid(), candidate.tanh(), o.sigmoid()


def gru_step(x: Tensor, h: Tensor, state: LayerState) -> LayerState:
    """Return h_t (Cho et al., 2014, with r applied to U h as cuDNN does).

    r, z = σ(W x + U h + b), n = tanh(W x + r ∘ (U h) + b), h_t = (1 - z) ∘ n + z ∘ h_{t-1}; the two products (B, 3 D)
    hold r, z and n, in this order.
    """
    _, z, n = gru_gates(x, h)
    return (gru_update(z, n, state[0]),)


def gru_update(z: Tensor, n: Tensor, h: Tensor) -> Tensor:
    """Return h_t = (1 - z) ∘ n + z ∘ h_{t-1}."""
    return torch.lerp(n, h, z)


def gru_gates(x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    """Return r, z and n (..., D) of a GRU, from its two products (..., 3 D)."""
    D = x.size(-1) // 3
    r, z = (x[..., : 2 * D] + h[..., : 2 * D]).sigmoid().chunk(2, -1)
    return r, z, torch.addcmul(x[..., 2 * D :], r, h[..., 2 * D :]).tanh()


def rnn_gates(x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    """Return the only value (..., D) of a plain RNN."""
    return (torch.tanh(x + h),)


@dataclass(frozen=True)
class Cell:
    """A kind of recurrent layer: its number of gates and states, its step, its fused kernel and its gates."""

    gates: int
    states: int
    step: Callable[[Tensor, Tensor, LayerState], LayerState]
    fused: Callable[..., nn.RNNBase]
    gates_of: Callable[[Tensor, Tensor], tuple[Tensor, ...]]
    names: tuple[str, ...]
    """The names of the gates, in the order of `gates_of`."""


CELLS: dict[CellKind, Cell] = {
    "rnn": Cell(1, 1, rnn_step, nn.RNN, rnn_gates, ("h",)),
    "lstm": Cell(4, 2, lstm_step, nn.LSTM, lstm_gates, ("i", "f", "C~", "o")),
    "gru": Cell(3, 1, gru_step, nn.GRU, gru_gates, ("r", "z", "n")),
}


class RecurrentLayer(nn.Module):
    """One layer in one direction: the fused kernel over sequences, or the step equations; shared weights.

    An LSTM may project its h to fewer features than its cell has (Sak et al., 2014).
    """

    def __init__(self, kind: CellKind, inputs: int, width: int, projection: int | None = None) -> None:
        super().__init__()
        assert projection is None or (kind == "lstm" and projection < width)
        self.cell, self.width, self.projection = CELLS[kind], width, projection
        narrow = {} if projection is None else {"proj_size": projection}
        self.fused = self.cell.fused(inputs, width, batch_first=True, **narrow)
        if projection is not None:
            _silence_projection_warning()
            nn.init.xavier_uniform_(self.projection_weight)
        for part in self.input_weight.chunk(self.cell.gates):
            nn.init.xavier_uniform_(part)
        for part in self.hidden_weight.chunk(self.cell.gates):
            nn.init.orthogonal_(part)  # preserves the norm of h over many steps (Saxe et al., 2014)
        nn.init.zeros_(self.input_bias)
        nn.init.zeros_(self.hidden_bias)
        if kind == "lstm":
            nn.init.ones_(self.input_bias[width : 2 * width])  # forget-gate bias of 1 (Jozefowicz et al., 2015)

    @property
    def input_weight(self) -> Tensor:
        """W_x (gates * D, inputs)."""
        return cast(Tensor, self.fused.weight_ih_l0)

    @property
    def input_bias(self) -> Tensor:
        """The bias of the product with x (gates * D,)."""
        return cast(Tensor, self.fused.bias_ih_l0)

    @property
    def hidden_weight(self) -> Tensor:
        """W_h (gates * D, D)."""
        return cast(Tensor, self.fused.weight_hh_l0)

    @property
    def hidden_bias(self) -> Tensor:
        """The bias of the product with h (gates * D,)."""
        return cast(Tensor, self.fused.bias_hh_l0)

    @property
    def projection_weight(self) -> Tensor:
        """W_p (projection, D)."""
        return cast(Tensor, self.fused.weight_hr_l0)

    def forward(self, x: Tensor, state: LayerState | None = None) -> tuple[Tensor, LayerState]:
        """Return h of every step (B, T, D) and the state after the last, by the fused kernel."""
        with torch.autocast(
            x.device.type, enabled=False
        ):  # rounding errors accumulate over steps; autocast would use fp16
            x = x.to(self.input_weight.dtype)
            initial = None if state is None else tuple(each.to(x.dtype)[None].contiguous() for each in state)
            outputs, last = self.fused(x, initial if initial is None or self.cell.states == 2 else initial[0])
        return outputs, tuple(each[0] for each in (last if self.cell.states == 2 else (last,)))

    def steps(self, x: Tensor, state: LayerState | None = None) -> tuple[Tensor, LayerState]:
        """Return the same as `forward`, by the equations, step by step."""
        hidden = []
        widths = (self.projection or self.width, self.width)[: self.cell.states]
        state = state or tuple(x.new_zeros(x.size(0), width) for width in widths)
        for gates in nn.functional.linear(x, self.input_weight, self.input_bias).unbind(1):
            state = self.cell.step(gates, nn.functional.linear(state[0], self.hidden_weight, self.hidden_bias), state)
            if self.projection is not None:
                state = (nn.functional.linear(state[0], self.projection_weight), state[1])
            hidden.append(state[0])
        return torch.stack(hidden, 1), state


@cache
def _silence_projection_warning() -> None:
    """Trigger and ignore torch's one-time warning that oneDNN has no LSTM with a projection."""
    with warnings.catch_warnings(), torch.no_grad(), torch.random.fork_rng([]):  # leaves the random state unchanged
        warnings.simplefilter("ignore")
        nn.LSTM(2, 2, proj_size=1, device="cpu")(torch.zeros(1, 1, 2, device="cpu"))


class BidirectionalLayer(nn.Module):
    """A forward and a backward layer, joined at every step into states of `width` features.

    concatenate: each direction has half of them; sum: all of them; layer: tanh(W→ h→ + W← h← + b), learned.
    """

    def __init__(self, kind: CellKind, inputs: int, width: int, join: Join) -> None:
        super().__init__()
        each = width // 2 if join == "concatenate" else width
        self.ahead, self.back = (RecurrentLayer(kind, inputs, each) for _ in range(2))
        self.join_mode = join
        self.joint = build_linear(2 * width, width) if join == "layer" else None

    def forward(self, x: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the joined states (B, S, D), and the joined final states (B, D); padding is ignored."""
        order = reversed_positions(token_mask)
        ahead, _ = self.ahead(x)
        back = turned(self.back(turned(x, order))[0], order)
        return self.join(ahead, back), self.join(last_real(ahead, token_mask), back[:, 0])

    def join(self, ahead: Tensor, back: Tensor) -> Tensor:
        """Return the joined states (..., D) of both directions."""
        if self.join_mode == "sum":
            return ahead + back
        both = torch.cat((ahead, back), -1)
        return both if self.joint is None else self.joint(both).tanh()


class ForwardLayer(nn.Module):
    """A left-to-right layer with the interface of BidirectionalLayer."""

    def __init__(self, kind: CellKind, inputs: int, width: int) -> None:
        super().__init__()
        self.ahead = RecurrentLayer(kind, inputs, width)

    def forward(self, x: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (B, S, D) and that of the last token (B, D); padding at the end is ignored."""
        states, _ = self.ahead(x)
        return states, last_real(states, token_mask)


def last_real(states: Tensor, token_mask: Tensor) -> Tensor:
    """Return the state (B, D) of the last token of each sentence, padding ignored."""
    last = (token_mask.sum(1) - 1).clamp_min(0)
    return states.take_along_dim(last[:, None, None], 1)[:, 0]


def reversed_positions(token_mask: Tensor) -> Tensor:
    """Return the positions (B, S) that reverse the tokens of each sentence and leave padding at the end."""
    positions = torch.arange(token_mask.size(1), device=token_mask.device)
    return torch.where(token_mask, token_mask.sum(1, keepdim=True) - 1 - positions, positions)


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Return (B, S, D) with each sentence reversed; applied twice, it is the identity."""
    return _Reverse.apply(x, positions[:, :, None])


class _Reverse(torch.autograd.Function):
    """A self-inverse permutation is its own gradient: no scattered additions, slow and nondeterministic."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:
        ctx.save_for_backward(positions)
        return x.take_along_dim(positions, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return upstream.take_along_dim(ctx.saved_tensors[0], 1), None

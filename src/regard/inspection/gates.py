"""Gates of recurrent layers over time, recorded from the steps of a forward pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from regard.inspection.record import exclusive
from regard.nn.layers.recurrent import BidirectionalLayer, LayerState, RecurrentLayer


@dataclass
class GateTrace:
    """The gates and states of one layer, a row of D features for each of T steps of the first sentence."""

    names: tuple[str, ...]
    is_backward: bool
    gates: dict[str, list[Tensor]] = field(default_factory=dict)
    hidden: list[Tensor] = field(default_factory=list)
    cells: list[Tensor] = field(default_factory=list)

    def rows(self, name: str) -> Tensor:
        """Return a gate by its name, "hidden" or "cell" (T, D), in the order of the tokens."""
        steps = {"hidden": self.hidden, "cell": self.cells}.get(name) or self.gates[name]
        rows = torch.stack(steps)
        return rows.flip(0) if self.is_backward else rows


def recurrent_layers(model: nn.Module) -> dict[str, RecurrentLayer]:
    """Return the recurrent layers of a model by their paths."""
    return {name: module for name, module in model.named_modules() if isinstance(module, RecurrentLayer)}


@contextmanager
def recording_gates(model: nn.Module) -> Iterator[dict[str, GateTrace]]:
    """Record the gates of every recurrent layer, which take single steps, within a `with` block."""
    layers = recurrent_layers(model)
    backward = {module.back for module in model.modules() if isinstance(module, BidirectionalLayer)}
    traces = {name: GateTrace(layer.cell.names, layer in backward) for name, layer in layers.items()}
    cells = {name: layer.cell for name, layer in layers.items()}
    with exclusive(model):
        for name, layer in layers.items():
            layer.cell = replace(layer.cell, step=_recorder(layer, traces[name]))
            setattr(layer, "forward", layer.steps)  # noqa: B010 - a method of one object
        try:
            yield traces
        finally:
            for name, layer in layers.items():
                layer.cell = cells[name]
                delattr(layer, "forward")


def _recorder(layer: RecurrentLayer, trace: GateTrace) -> Callable[[Tensor, Tensor, LayerState], LayerState]:
    cell = layer.cell

    def step(x: Tensor, h: Tensor, state: LayerState) -> LayerState:
        for name, gate in zip(cell.names, cell.gates_of(x, h), strict=True):
            trace.gates.setdefault(name, []).append(gate[0].float().cpu())
        after = cell.step(x, h, state)
        trace.hidden.append(after[0][0].float().cpu())
        if len(after) > 1:
            trace.cells.append(after[1][0].float().cpu())
        return after

    return step

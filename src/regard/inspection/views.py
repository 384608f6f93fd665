"""Views of a trace: attention weights, the logit lens and decoding iterations, as tables and as plain values."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import ConfigError
from regard.nn.probes.attention_layer import AttentionLayer
from regard.nn.probes.trace import Trace

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""A header and rows."""


class TraceView:
    """A part of a trace, to be shown."""

    @abstractmethod
    def table(self) -> Table:
        """Return a row for each token or iteration."""

    def plot(self, path: Path) -> None:
        """Write a picture, where there is one."""
        raise ConfigError(f"{path}: only attention weights are plotted; leave it out.")

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""


@dataclass(frozen=True)
class WeightsView(TraceView):
    """The weights of a layer: of one head, or of all."""

    layer: AttentionLayer
    head: int | None = None
    top: int = 3

    def plot(self, path: Path) -> None:
        """Write a picture of all heads, or of the one."""
        count = len(self.layer.weights)
        self.layer.plot([*(range(count) if self.head is None and count > 1 else [self.head])], path)

    def table(self) -> Table:
        """Return the keys with the largest weights for each query."""
        layer = self.layer
        strongest = zip(layer.queries, layer.strongest(self.head, self.top), strict=True)
        rows = [(query, *(f"{key} {weight:.2f}" for key, weight in row)) for query, row in strongest]
        blank = [""] * (min(self.top, len(layer.keys)) - 1)
        return ("output" if layer.kind == "cross" else "token", "attends to", *blank), rows

    def to_dict(self) -> dict[str, Any]:
        """Return the weights of all heads, or of the one."""
        layer = self.layer
        weights = layer.weights if self.head is None else layer.head_weights(self.head)[None]
        facts = {"attention": layer.kind, "layer": layer.layer, "layers": layer.layers, "head": self.head}
        return facts | {"queries": layer.queries, "keys": layer.keys, "weights": weights.round(6).tolist()}


@dataclass(frozen=True)
class LensView(TraceView):
    """Each block's prediction after (GPT) or at (BERT) every token."""

    trace: Trace
    to_tokens: Callable[[list[int]], Sequence[str]]

    def table(self) -> Table:
        """Return the best prediction of each block for every token."""
        blocks = range(self._blocks)
        best = [self.trace.tokens[f"blocks.{number}"] for number in blocks]
        values = [self.trace.arrays[f"blocks.{number}.probabilities"][:, 0] for number in blocks]
        rows = [
            (token, *(f"{best[number][index]} {values[number][index]:.2f}" for number in blocks))
            for index, token in enumerate(self.trace.tokens["text"])
        ]
        return ("token", *(f"block {number}" for number in blocks)), rows

    def to_dict(self) -> dict[str, Any]:
        """Return the most probable tokens of each block for every token."""
        return {"tokens": self.trace.tokens["text"], "blocks": [self._block(each) for each in range(self._blocks)]}

    def _block(self, number: int) -> list[list[dict[str, Any]]]:
        ids, values = (self.trace.arrays[f"blocks.{number}.{name}"] for name in ("ids", "probabilities"))
        pairs = (
            zip(self.to_tokens([int(each) for each in row]), some, strict=True) for row, some in zip(ids, values)
        )
        return [[{"token": token, "probability": round(float(value), 6)} for token, value in row] for row in pairs]

    @property
    def _blocks(self) -> int:
        return sum(name.endswith(".ids") for name in self.trace.arrays)


@dataclass(frozen=True)
class IterationsView(TraceView):
    """The token and its probability at every position after each mask-predict iteration."""

    trace: Trace

    def table(self) -> Table:
        """Return a row for each iteration; unchanged tokens are in brackets."""
        rows = []
        for number, each in enumerate(self._outputs, start=1):
            cells = zip(*each.values(), strict=True)
            words = ((f"{token} {value:.2f}", is_new) for token, value, is_new in cells)
            rows.append((str(number), *(word if is_new else f"({word})" for word, is_new in words)))
        return ("iteration", "output (in brackets: unchanged)", *[""] * (len(rows[0]) - 2)), rows

    def to_dict(self) -> dict[str, Any]:
        """Return the source, the output of each iteration, and the candidate lengths."""
        names = {"lengths": "lengths", "length_probabilities": "lengths.probabilities"}
        lengths = {name: [round(float(each), 6) for each in self.trace.arrays[key]] for name, key in names.items()}
        return {"source": self.trace.tokens["source"], "iterations": self._outputs, **lengths}

    @property
    def _outputs(self) -> list[dict[str, Any]]:
        trace = self.trace
        names = [f"passes.{number}" for number in range(sum(name.startswith("passes.") for name in trace.tokens))]
        return [
            {
                "tokens": trace.tokens[name],
                "probabilities": [round(float(each), 6) for each in trace.arrays[f"{name}.probabilities"]],
                "is_filled_in": [bool(each) for each in trace.arrays[f"{name}.masked"]],
            }
            for name in names
        ]

"""Attention weights of one layer: the keys with the highest weights, and plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.escaping import in_picture
from regard.nn.probes.trace import Trace
from regard.reporting.drawing import literal_text, new_figure

KINDS = {
    "cross": ("decoder", "cross"),
    "encoder": ("encoder", "self"),
    "decoder": ("decoder", "self"),
    "self": ("decoder", "self"),
}
"""The names of attentions on the command line, and their module and kind in a trace."""
FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class AttentionLayer:
    """The weights (heads, queries, keys) of one layer, and the tokens that queries and keys stand for."""

    kind: str
    layer: int
    layers: int
    queries: list[str]
    keys: list[str]
    weights: NDArray[np.float32]

    def head_weights(self, head: int | None) -> NDArray[np.float32]:
        """Return the weights (queries, keys) of a head; None: the mean of all."""
        count = len(self.weights)
        if head is None:
            return self.weights.mean(0)
        if not -count <= head < count:
            raise ConfigError(f"head: {head} is out of range, this layer has {count} heads, from 0 to {count - 1}.")
        return self.weights[head]

    def strongest(self, head: int | None, count: int) -> list[list[tuple[str, float]]]:
        """Return the keys with the highest weights for each query, in descending order, with these weights."""
        keys = []
        for row in self.head_weights(head):
            best = np.argsort(-row, kind="stable")[:count]
            keys.append([(self.keys[number], float(row[number])) for number in best])
        return keys


def attention_layer(
    trace: Trace, kind: str | None = None, layer: int = -1, is_autoregressive: bool = True
) -> AttentionLayer:
    """Return the attention weights of one layer of a trace (default kind: cross-attention, where there is any).

    A query of autoregressive cross-attention is labeled by the token predicted there, the next one.
    """
    is_pair = "source" in trace.tokens
    known = [
        name for name in (("cross", "encoder", "decoder") if is_pair else ("self",)) if trace.names(*KINDS[name])
    ]
    if not known:
        raise ConfigError("attention: this model has none; give a Transformer, a GPT, a BERT or the like.")
    chosen = kind or known[0]
    if chosen not in known:
        raise ConfigError(f"attention: this model has no {chosen} attention; it has {' and '.join(known)}.")
    weights = trace.attention(*KINDS[chosen], layer)
    count = trace.layers(*KINDS[chosen])
    text = trace.tokens["source" if chosen == "encoder" else "target"] if is_pair else trace.tokens["text"]
    queries = [*text[1:], "</s>"] if chosen == "cross" and is_autoregressive else text
    keys = trace.tokens["source"] if chosen == "cross" else text
    return AttentionLayer(chosen, layer % count, count, queries, keys, weights)


def draw_attention(layer: AttentionLayer, heads: Sequence[int | None], path: Path) -> None:
    """Draw the weights of some heads (None: the mean of all) side by side."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: a picture ends in {', '.join(FORMATS)}; choose one of them.")
    columns = min(4, len(heads))
    rows = -(-len(heads) // columns)
    wide, high = 1.5 + 0.3 * len(layer.keys), 1.5 + 0.27 * len(layer.queries)
    keys, queries = ([*map(in_picture, tokens)] for tokens in (layer.keys, layer.queries))
    with literal_text():
        figure = new_figure(min(40.0, columns * wide), min(40.0, rows * high), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).flatten()
        for panel in panels[len(heads) :]:
            panel.set_axis_off()
        for head, panel in zip(heads, panels, strict=False):
            panel.imshow(layer.head_weights(head), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
            panel.set_xticks(range(len(keys)), keys, rotation=60, ha="right", fontsize=8)
            panel.set_yticks(range(len(queries)), queries, fontsize=8)
            name = "mean of all heads" if head is None else f"head {head % len(layer.weights)}"
            panel.set_title(f"{layer.kind}, layer {layer.layer}, {name}", fontsize=9, loc="left")
        try:
            figure.savefig(path, dpi=130)
        except OSError as error:
            raise DataError(f"{path}: cannot be written ({error.strerror}); choose another path.") from None

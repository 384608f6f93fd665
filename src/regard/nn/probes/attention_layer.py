"""Attention weights of one layer: the keys with the highest weights, and plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.escaping import in_picture
from regard.reporting.drawing import literal_text, new_figure
from regard.text.readable import readable

if TYPE_CHECKING:
    from regard.reporting.drawing import Axes, AxesImage, Figure

FORMATS = (".png", ".svg", ".pdf")
TITLES = {
    "cross": ("token predicted", "source token attended to"),
    "encoder": ("source token", "source token attended to"),
    "decoder": ("token predicted", "earlier token attended to"),
    "self": ("token", "token attended to"),
}
"""Titles of the axes of queries and keys, by kind of attention."""
LABELED = 80
"""Tokens up to which an axis shows each; beyond, positions are numbered."""


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

    def plot(self, heads: Sequence[int | None] = (None,), path: str | Path | None = None) -> "Figure":
        """Return a picture with the weights of some heads (None: the mean of all); write it to a path."""
        if path is not None and Path(path).suffix.lower() not in FORMATS:
            raise ConfigError(f"{path}: a picture ends in {', '.join(FORMATS)}; choose one of them.")
        columns = min(4, len(heads))
        rows = -(-len(heads) // columns)
        wide, high = 2.2 + 0.3 * min(LABELED, len(self.keys)), 1.8 + 0.27 * min(LABELED, len(self.queries))
        with literal_text():
            figure = new_figure(min(40.0, columns * wide), min(40.0, rows * high), layout="constrained")
            panels = figure.subplots(rows, columns, squeeze=False).flatten()
            for panel in panels[len(heads) :]:
                panel.set_axis_off()
            for head, panel in zip(heads, panels, strict=False):
                image = self._draw(panel, head)
            figure.colorbar(image, ax=list(panels), label="attention weight", shrink=0.8)
            try:
                figure.savefig(path, dpi=130) if path is not None else None
            except OSError as error:
                raise DataError(f"{path}: cannot be written ({error.strerror}); choose another path.") from None
        return figure

    def _draw(self, panel: "Axes", head: int | None) -> "AxesImage":
        """Draw the weights of a head; an axis has a token at every whole number."""
        image = panel.imshow(self.head_weights(head), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        for axis, tokens in ((panel.xaxis, self.keys), (panel.yaxis, self.queries)):
            if len(tokens) <= LABELED:
                axis.set_ticks(range(len(tokens)), [*map(in_picture, readable(tokens))], fontsize=8)
            else:
                axis.set_ticks(range(0, len(tokens), -(-len(tokens) // LABELED) * 5))
        if len(self.keys) <= LABELED:
            panel.tick_params(axis="x", rotation=60)
        titles = TITLES[self.kind]
        panel.set_ylabel(titles[0], fontsize=8)
        panel.set_xlabel(titles[1], fontsize=8)
        name = "mean of all heads" if head is None else f"head {head % len(self.weights)}"
        panel.set_title(f"{self.kind}, layer {self.layer}, {name}", fontsize=9, loc="left")
        return image

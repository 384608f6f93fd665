"""Which source words a model looks at for each target word: the same sentence for every member."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.batches import EncodedPairs
from regard.data.pairs import Pair
from regard.errors import ConfigError
from regard.pipelines import Translator

READABLE = range(7, 15)
"""Source tokens, the end token among them, of a sentence whose picture can be read."""


def pick_sentence(pairs: Sequence[Pair], encoded: EncodedPairs) -> Pair:
    """Return a pair to look at: neither short nor long, and with sides of different lengths.

    With a start token before the target and the end token left out, that makes (target, source) the shape of what
    looks from one to the other, and of nothing that looks at its own side.
    """
    sources, targets = encoded.source.lengths, encoded.target.lengths
    odd = np.flatnonzero(sources != targets)
    good = [row for row in odd if sources[row] in READABLE and targets[row] in READABLE]
    return pairs[int(good[0] if good else odd[0] if len(odd) else 0)]


def alignment(translator: Translator, pair: Pair) -> dict[str, Any] | None:
    """Return the weights (target, source) of the most decided attention, the mean of its heads; None without any."""
    try:
        trace = translator.inspect(pair.source, pair.target)
    except ConfigError:  # no probe has weights: the model has no attention
        return None
    shape = len(trace.tokens["target"]), len(trace.tokens["source"])
    seen = {
        name: array.reshape(-1, *shape).mean(0) for name, array in trace.arrays.items() if array.shape[-2:] == shape
    }
    if not seen or shape[0] == shape[1]:
        return None
    name = max(seen, key=lambda each: _focus(seen[each]))
    tokens = {side: [_readable(piece) for piece in pieces] for side, pieces in trace.tokens.items()}
    # The weights of a row lead to the word said next, so rows are named by that.
    said = [*tokens["target"][1:], "</s>"]
    return {"probe": name, "source": tokens["source"], "target": said, "weights": seen[name].round(4).tolist()}


def _focus(weights: NDArray[np.float32]) -> float:
    """Return 1 for looks at one word only, 0 for looks at all alike."""
    safe = np.clip(weights, 1e-12, 1.0)
    return 1 - float(-(safe * np.log(safe)).sum(-1).mean()) / float(np.log(max(2, weights.shape[-1])))


def _readable(piece: str) -> str:
    return piece.removeprefix("▁").removeprefix("Ġ") or piece

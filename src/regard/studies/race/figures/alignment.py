"""Cross-attention weights of a translator on one sentence pair, the same for every member."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.batches import EncodedPairs
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError
from regard.tasks.translate.pipeline import Translator
from regard.text.readable import readable

READABLE = range(7, 15)
"""Source tokens, with EOS, of a sentence whose plot is readable."""


def pick_sentence(pairs: Sequence[Pair], encoded: EncodedPairs) -> Pair:
    """Return the pair to plot: the first of readable length, or the one nearest to it."""
    sizes = np.stack((encoded.source.lengths, encoded.target.lengths))
    missing, too_many = READABLE[0] - sizes.min(0), sizes.max(0) - READABLE[-1]
    return pairs[int(np.argmin(np.maximum(0, missing) + np.maximum(0, too_many)))]


def alignment(translator: Translator, pair: Pair) -> dict[str, Any] | None:
    """Return the head-averaged weights (target, source) of the layer with the lowest entropy; None: no attention."""
    try:
        trace = translator.inspect(pair.source, pair.target)
    except (ConfigError, DataError):  # the model has no attention, or the sentence is too long
        return None
    weights = {name: trace.arrays[name].mean(0) for name in trace.names("cross")}
    if not weights:
        return None
    name = max(weights, key=lambda each: _focus(weights[each]))
    source, target = (readable(trace.tokens[side]) for side in ("source", "target"))
    return {"probe": name, "source": source, "target": target, "weights": weights[name].round(4).tolist()}


def _focus(weights: NDArray[np.float32]) -> float:
    """Return 1 minus the normalized entropy of the weights: 1 for one token only, 0 for uniform weights."""
    safe = np.clip(weights, 1e-12, 1.0)
    return 1 - float(-(safe * np.log(safe)).sum(-1).mean()) / float(np.log(max(2, weights.shape[-1])))

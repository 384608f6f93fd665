"""Which source words a model looks at for each target word: the same sentence for every member."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.batches import EncodedPairs
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError
from regard.tasks.translate.mask_predict import MaskPredictTranslator
from regard.tasks.translate.pipeline import Translator

READABLE = range(7, 15)
"""Source tokens, the end token among them, of a sentence whose picture can be read."""


def pick_sentence(pairs: Sequence[Pair], encoded: EncodedPairs) -> Pair:
    """Return a pair to look at: the first that is neither short nor long, or the one nearest to that."""
    sizes = np.stack((encoded.source.lengths, encoded.target.lengths))
    missing, too_many = READABLE[0] - sizes.min(0), sizes.max(0) - READABLE[-1]
    return pairs[int(np.argmin(np.maximum(0, missing) + np.maximum(0, too_many)))]


def alignment(translator: Translator, pair: Pair) -> dict[str, Any] | None:
    """Return the weights (target, source) of the most decided attention, the mean of its heads; None without any."""
    try:
        trace = translator.inspect(pair.source, pair.target)
    except (ConfigError, DataError):  # the model has no attention, or no room for the sentence
        return None
    seen = {name: trace.arrays[name].mean(0) for name in trace.names("decoder", "cross")}
    if not seen:
        return None
    name = max(seen, key=lambda each: _focus(seen[each]))
    tokens = {side: [_readable(piece) for piece in pieces] for side, pieces in trace.tokens.items()}
    # The weights of a row lead to the word said next, so rows are named by that; words that are filled in are there.
    said = tokens["target"] if isinstance(translator, MaskPredictTranslator) else [*tokens["target"][1:], "</s>"]
    return {"probe": name, "source": tokens["source"], "target": said, "weights": seen[name].round(4).tolist()}


def _focus(weights: NDArray[np.float32]) -> float:
    """Return 1 for looks at one word only, 0 for looks at all alike."""
    safe = np.clip(weights, 1e-12, 1.0)
    return 1 - float(-(safe * np.log(safe)).sum(-1).mean()) / float(np.log(max(2, weights.shape[-1])))


def _readable(piece: str) -> str:
    return piece.removeprefix("▁").removeprefix("Ġ") or piece

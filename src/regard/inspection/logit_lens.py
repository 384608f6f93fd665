"""The logit lens (nostalgebraist, 2020): the output layer applied to the hidden states of each block."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import ConfigError
from regard.inspection.record import recording
from regard.models.base.protocols import SupportsLogitLens
from regard.nn.probes.trace import Trace

AT_ONCE = 2**22
"""Maximum number of logits computed at once."""


@torch.inference_mode()
def record_lens(
    model: Any,
    text: Tensor,
    tokens: dict[str, list[str]],
    to_tokens: Callable[[list[int]], list[str]],
    count: int = 5,
    segments: Tensor | None = None,
) -> Trace:
    """Return each block's prediction at every token of one text (T,): the next token, or an encoder's token itself.

    A text encoder also takes the segments (T,). The arrays `blocks.N.ids` and `blocks.N.probabilities` (T, count)
    hold the most probable tokens, best first; the tokens `blocks.N` are the best ones as text.
    """
    candidate: object = model
    if not isinstance(candidate, SupportsLogitLens):
        raise ConfigError("logit_lens: this model has no residual stream; use a model of the family gpt or bert.")
    with recording(model, ["hidden.*"]) as hidden:
        model.hidden_states(text[None]) if segments is None else model.hidden_states(text[None], segments[None])
    arrays: dict[str, NDArray[np.float32]] = {}
    predicted = dict(tokens)
    for number in range(len(hidden)):
        ids, probabilities = _most_probable(model, torch.from_numpy(hidden[f"hidden.{number}"]), count)
        arrays[f"blocks.{number}.ids"], arrays[f"blocks.{number}.probabilities"] = ids, probabilities
        predicted[f"blocks.{number}"] = to_tokens(ids[:, 0].astype(np.int64).tolist())
    return Trace(predicted, arrays)


def _most_probable(model: Any, hidden: Tensor, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the most probable ids and their probabilities (T, count) for hidden states (T, D)."""
    weight = model.head.weight
    ids, probabilities = [], []
    for part in hidden.to(weight).split(max(1, AT_ONCE // weight.size(0))):
        best = model.project(model.finish(part)).float().softmax(-1).topk(min(count, weight.size(0)), dim=-1)
        ids.append(best.indices.float().cpu())
        probabilities.append(best.values.cpu())
    return torch.cat(ids).numpy(), torch.cat(probabilities).numpy()

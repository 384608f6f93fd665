"""Hidden states of a text encoder, layer by layer."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.inspection.record import exclusive
from regard.nn.probes.probe import Listener, Probe, listening


@torch.inference_mode()
def read_layers(
    model: Any,
    layers: Sequence[int],
    tokens: Tensor,
    segments: Tensor | None = None,
    token_mask: Tensor | None = None,
) -> list[Tensor]:
    """Return hidden states (R, T, D) after these layers: 0 is the embeddings, 1 the first block, -1 the last.

    The last block's are the model's output, as heads take it.
    """
    count = len(model.hidden)
    indices = [_layer_index(layer, count) for layer in layers]
    states: dict[int, Tensor] = {}

    def keep(layer: int) -> Listener:
        return lambda value: states.update({layer: value})

    points: dict[int, Probe] = {0: model.embedded} | dict(enumerate(model.hidden, start=1))
    listeners = {points[layer]: keep(layer) for layer in set(indices) if layer != count}
    with exclusive(model), listening(listeners):
        states[count] = model.hidden_states(tokens, segments, token_mask)
    return [states[layer] for layer in indices]


def _layer_index(layer: int, count: int) -> int:
    """Return the index of a layer, with the embeddings as 0; negative ones count from the end."""
    if not -count - 1 <= layer <= count:
        raise ConfigError(
            f"layer: {layer} is out of range; this model has embeddings (0) and {count} blocks (1 to {count}, or -1 "
            f"for the last)."
        )
    return layer % (count + 1)

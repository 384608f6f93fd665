"""What a text encoder knows of each token on its way, block by block."""

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
    """Return hidden states (R, T, D) behind some layers: 0 is the embeddings, 1 the first block, -1 the last.

    What the last block hands on is taken as heads see it.
    """
    count = len(model.hidden)
    wanted = [_number(layer, count) for layer in layers]
    found: dict[int, Tensor] = {}

    def keep(layer: int) -> Listener:
        return lambda value: found.update({layer: value})

    places: dict[int, Probe] = {0: model.embedded} | dict(enumerate(model.hidden, start=1))
    heard = {places[layer]: keep(layer) for layer in set(wanted) if layer != count}
    with exclusive(model), listening(heard):
        found[count] = model.hidden_states(tokens, segments, token_mask)
    return [found[layer] for layer in wanted]


def _number(layer: int, count: int) -> int:
    """Return a layer counted from the embeddings on."""
    if not -count - 1 <= layer <= count:
        raise ConfigError(
            f"layer: {layer} is out of range; this model has embeddings (0) and {count} blocks (1 to {count}, or -1 "
            f"for the last)."
        )
    return layer % (count + 1)

"""One example through the model with somebody listening at its probes."""

import fnmatch
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.nn.probes.probe import Listener, listening, probes
from regard.nn.probes.trace import Trace

_locks: "weakref.WeakKeyDictionary[nn.Module, threading.Lock]" = weakref.WeakKeyDictionary()


def exclusive(model: nn.Module) -> threading.Lock:
    """Return the lock of a model: a listener on its probes hears whoever runs it."""
    return _locks.setdefault(model, threading.Lock())


@torch.inference_mode()
def record_translation(
    model: Any,
    source: Tensor,
    target: Tensor,
    tokens: dict[str, list[str]],
    names: Sequence[str] = ("*.weights",),
) -> Trace:
    """Return what the probes of these names (shell patterns) saw while one source (S,) led to one target (T,)."""
    if not probes(model):
        raise ConfigError("inspect: this model has no attention to look at; one with model.alignment has.")
    token_mask = torch.ones_like(source, dtype=torch.bool)
    with recording(model, names) as arrays:
        model.decode(target[None], model.encode(source[None], token_mask[None]))
    return Trace(tokens, arrays)


@torch.inference_mode()
def record_text(
    model: Any,
    text: Tensor,
    tokens: dict[str, list[str]],
    names: Sequence[str] = ("*.weights",),
    segments: Tensor | None = None,
) -> Trace:
    """Return what the probes of these names (shell patterns) saw while one text (T,) was read.

    A text encoder is also told the segments (T,) of the tokens.
    """
    if not probes(model):
        raise ConfigError("inspect: this model has no attention to look at; a model of the family gpt has.")
    with recording(model, names) as arrays:
        model.hidden_states(text[None]) if segments is None else model.hidden_states(text[None], segments[None])
    return Trace(tokens, arrays)


@contextmanager
def recording(model: Any, names: Sequence[str]) -> Iterator[dict[str, NDArray[np.float32]]]:
    """Fill the arrays of one example with what is seen at probes of these names, for the length of a block."""
    arrays: dict[str, NDArray[np.float32]] = {}

    def listener(name: str) -> Listener:
        def keep(value: Tensor) -> None:
            arrays[name] = value[0].float().cpu().numpy()

        return keep

    found = {
        probe: listener(name)
        for name, probe in probes(model).items()
        if any(fnmatch.fnmatch(name, pattern) for pattern in names)
    }
    if not found:
        raise ConfigError(
            f"inspect: no probe is named {' or '.join(names)}; this model has {', '.join(probes(model))}."
        )
    with exclusive(model), listening(found):
        was_training = model.training
        model.eval()
        try:
            yield arrays
        finally:
            model.train(was_training)

"""Recording of probes: one example passes the model, and the values at its probes become a trace."""

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
    """Return the lock of a model: its probes' listeners receive values from every thread that runs it."""
    return _locks.setdefault(model, threading.Lock())


@torch.inference_mode()
def record_translation(
    model: Any,
    source: Tensor,
    target: Tensor,
    tokens: dict[str, list[str]],
    names: Sequence[str] = ("*.weights",),
) -> Trace:
    """Return the values at the named probes (shell patterns) for one source (S,) and its target (T,)."""
    if not probes(model):
        raise ConfigError("inspect: this model has no attention weights; use one with model.alignment.")
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
    """Return the values at the named probes (shell patterns) for one text (T,).

    A text encoder also takes the segments (T,).
    """
    if not probes(model):
        raise ConfigError("inspect: this model has no attention weights; use a model of the family gpt.")
    with recording(model, names) as arrays:
        model.hidden_states(text[None]) if segments is None else model.hidden_states(text[None], segments[None])
    return Trace(tokens, arrays)


@contextmanager
def recording(model: Any, names: Sequence[str]) -> Iterator[dict[str, NDArray[np.float32]]]:
    """Record the values at the named probes for one example, within a `with` block."""
    arrays: dict[str, NDArray[np.float32]] = {}

    def listener(name: str) -> Listener:
        def keep(value: Tensor) -> None:
            arrays[name] = value[0].float().cpu().numpy()

        return keep

    listeners = {
        probe: listener(name)
        for name, probe in probes(model).items()
        if any(fnmatch.fnmatch(name, pattern) for pattern in names)
    }
    if not listeners:
        raise ConfigError(
            f"inspect: no probe is named {' or '.join(names)}; this model has {', '.join(probes(model))}."
        )
    with exclusive(model), listening(listeners):
        was_training = model.training
        model.eval()
        try:
            yield arrays
        finally:
            model.train(was_training)

"""Recording of probes: one example passes the model, and the values at its probes become a trace."""

import fnmatch
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.nn.probes.probe import Listener, listening, probes
from regard.nn.probes.trace import Trace

WEIGHTS = ("*.weights",)
"""The probes of attention weights."""
_locks: "weakref.WeakKeyDictionary[nn.Module, threading.RLock]" = weakref.WeakKeyDictionary()


def exclusive(model: nn.Module) -> "threading.RLock":
    """Return the lock of a model: its probes' listeners receive values from every thread that runs it.

    A thread that holds it may take it again, so a pipeline can be called while its model is edited.
    """
    return _locks.setdefault(model, threading.RLock())


@torch.inference_mode()
def record_translation(
    model: Any,
    source: Tensor,
    target: Tensor,
    tokens: dict[str, list[str]],
    names: Sequence[str] = WEIGHTS,
) -> Trace:
    """Return the values at the named probes (shell patterns) for one source (S,) and the target tokens read (T,)."""
    token_mask = torch.ones_like(source, dtype=torch.bool)
    run = lambda: model.decode(target[None], model.encode(source[None], token_mask[None]))
    return Trace(tokens, _recorded(model, names, run))


@torch.inference_mode()
def record_text(
    model: Any,
    text: Tensor,
    tokens: dict[str, list[str]],
    names: Sequence[str] = WEIGHTS,
    segments: Tensor | None = None,
) -> Trace:
    """Return the values at the named probes (shell patterns) for one text (T,).

    A text encoder also takes the segments (T,).
    """
    inputs = (text[None],) if segments is None else (text[None], segments[None])
    return Trace(tokens, _recorded(model, names, lambda: model.hidden_states(*inputs)))


def _recorded(model: Any, names: Sequence[str], run: Callable[[], Tensor]) -> dict[str, NDArray[np.float32]]:
    """Return the values at the named probes; of a model without attention, all of them, or its hidden states."""
    known = probes(model)
    if tuple(names) == WEIGHTS and not any(fnmatch.fnmatch(name, WEIGHTS[0]) for name in known):
        if not known:
            with exclusive(model):
                return {"hidden": run()[0].float().cpu().numpy()}
        names = tuple(known)
    with recording(model, names) as arrays:
        run()
    return arrays


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
            f"inspect: no probe is named {' or '.join(names)}; this model has {', '.join(probes(model)) or 'none'}."
        )
    with exclusive(model), listening(listeners):
        was_training = model.training
        model.eval()
        try:
            yield arrays
        finally:
            model.train(was_training)

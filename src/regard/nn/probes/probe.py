"""Probes: named points of a model where a listener can record or replace a value; free without a listener."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

Listener = Callable[[Tensor], Tensor | None]


class Probe(nn.Module):
    """An identity module; a listener receives its input and may return a replacement.

    Its name is its path in the model, such as `decoder.blocks.3.cross.weights`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.listener: Listener | None = None

    @property
    def has_listener(self) -> bool:
        """True if there is a listener: costly values are computed only then."""
        return self.listener is not None

    def forward(self, value: Tensor) -> Tensor:
        """Return the value, or the listener's replacement."""
        if self.listener is None:
            return value
        replacement = self.listener(value)
        return value if replacement is None else replacement


def probes(model: nn.Module) -> dict[str, Probe]:
    """Return every probe of a model by its path."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Probe)}


@contextmanager
def listening(listeners: dict[Probe, Listener]) -> Iterator[None]:
    """Attach listeners to probes within a `with` block."""
    if any(probe.has_listener for probe in listeners):
        raise RuntimeError("A probe takes one listener at a time.")
    for probe, listener in listeners.items():
        probe.listener = listener
    try:
        yield
    finally:
        for probe in listeners:
            probe.listener = None

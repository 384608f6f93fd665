"""Calls of modules' methods, recorded while a model runs: what a probe has no name for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class RecordedCall:
    """The positional arguments of a call, and what came back."""

    arguments: tuple[object, ...]
    result: object

    def tensor(self, argument: int | None = None) -> Tensor:
        """Return an argument that is a tensor, or the result (None)."""
        value = self.result if argument is None else self.arguments[argument]
        assert isinstance(value, Tensor), "asked of a call with a tensor there"
        return value


@contextmanager
def recording_calls(methods: Mapping[str, tuple[nn.Module, str]]) -> Iterator[dict[str, list[RecordedCall]]]:
    """Record every call of some methods, given as (module, method) by name, within a `with` block."""
    calls: dict[str, list[RecordedCall]] = {name: [] for name in methods}

    def recorder(name: str, method: Callable[..., object]) -> Callable[..., object]:
        def recorded(*arguments: object) -> object:
            result = method(*arguments)
            calls[name].append(RecordedCall(arguments, result))
            return result

        return recorded

    for name, (module, method) in methods.items():
        setattr(module, method, recorder(name, getattr(module, method)))
    try:
        yield calls
    finally:
        for module, method in methods.values():
            delattr(module, method)

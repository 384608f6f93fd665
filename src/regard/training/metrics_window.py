"""Metrics between two log lines: sums stay on the device until they are read, so that nothing synchronizes."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from regard.data.feeds.sampler import Position
from regard.training.device.cuda_graphs import Sums
from regard.training.parallel.process_group import ProcessGroup


class MetricsWindow:
    """Sums of losses, counts, tokens and seconds over some updates, and the finiteness of each update."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.sums: Sums = {}
        self.counts: dict[str, int] = {}
        self.tokens = 0
        self.seconds = 0.0
        self.waited = 0.0
        self._unchecked: list[tuple[Position, Tensor]] = []

    def add(self, sums: Sums, counts: dict[str, int], tokens: int, seconds: float) -> None:
        """Add one update."""
        self.sums = total([self.sums, sums])
        self.counts = total([self.counts, counts])
        self.tokens += tokens
        self.seconds += seconds

    def watch(self, position: Position, value: Tensor) -> None:
        """Keep a value of an update that is finite exactly if its loss and gradients are."""
        self._unchecked.append((position, value))

    def first_non_finite(self, team: ProcessGroup) -> Position | None:
        """Return the first update since the last call whose value is not finite, on any process."""
        if not self._unchecked:
            return None
        positions, tensors = zip(*self._unchecked, strict=True)
        self._unchecked = []
        values = team.sum_values(torch.stack([tensor.float() for tensor in tensors])).tolist()
        pairs = zip(positions, values, strict=True)
        return next((position for position, value in pairs if not math.isfinite(value)), None)

    @property
    def tokens_per_second(self) -> float:
        """Training speed in tokens (target tokens, where there are sources) a second."""
        return round(self.tokens / max(self.seconds, 1e-9), 1)

    @property
    def waiting(self) -> float:
        """The fraction of the time spent waiting for data."""
        return round(self.waited / max(self.seconds, 1e-9), 5)

    def totals(self, team: ProcessGroup) -> dict[str, float]:
        """Return the sum of each part over the window and all processes."""
        exact = torch.float32 if self.device.type == "mps" else torch.float64  # an Apple GPU has no fp64
        values = [torch.as_tensor(self.sums.get(name, 0.0), dtype=exact, device=self.device) for name in self.counts]
        return dict(zip(self.counts, team.sum_values(torch.stack(values)).tolist(), strict=True))

    def means(self, team: ProcessGroup) -> dict[str, float]:
        """Return the mean of each part that occurred in the window, the same on every process."""
        return {name: value / self.counts[name] for name, value in self.totals(team).items() if self.counts[name]}

    def plain(self, team: ProcessGroup) -> dict[str, Any]:
        """Return the window as JSON can hold it, without loss of precision; a collective call of all processes."""
        sums = self.totals(team) if self.counts else {}
        clocks = {"seconds": self.seconds, "waited": self.waited}
        return {"sums": sums, "counts": self.counts, "tokens": self.tokens} | clocks

    @classmethod
    def from_plain(cls, values: dict[str, Any], device: torch.device, team: ProcessGroup) -> "MetricsWindow":
        """Return the window that `plain` wrote; the main process gets the sums of all."""
        window = cls(device)
        window.sums = dict(values["sums"]) if team.is_main else {}
        window.counts = dict(values["counts"])
        window.tokens, window.seconds, window.waited = values["tokens"], values["seconds"], values.get("waited", 0.0)
        return window


def total(tables: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the sum of several tables of numbers, name by name."""
    sums: dict[str, Any] = {}
    for table in tables:
        for name, value in table.items():
            sums[name] = sums[name] + value if name in sums else value
    return sums

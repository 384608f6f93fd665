"""Training progress: everything but weights and optimizer that resuming needs."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from regard.data.feeds.sampler import Position

TIE = 1e-9
"""Bonus of a tie that the loss has broken, added to the value of a checkpoint."""


@dataclass
class LoopState:
    """Training progress; with weights and optimizer, all that an exact resume needs."""

    step: int = 0
    position: Position = field(default_factory=Position)
    tokens_seen: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    """Seconds of these spent waiting for data."""
    best: float | None = None
    best_step: int = 0
    best_loss: float | None = None
    """Validation loss of the best one: it breaks ties."""
    ties: int = 0
    """Ties broken by the loss so far; the saved values of checkpoints are raised a little by each."""
    stale: int = 0
    """Validations since the best one."""
    decay_from: int | None = None
    """The update after which the rate of the schedule wsd falls; None: not decided yet."""
    decay_steps: int = 0
    """Updates of that fall."""
    clock: float = 0.0
    """Seconds of the run's time limit used, by all sessions, as of the last checkpoint."""
    first_loss: float | None = None
    """Mean loss of the first log window."""
    stuck: int = 0
    """Consecutive validations at which nothing was learned."""
    restarts: int = 0
    """Restarts at a lower rate because nothing was learned."""
    recent: list[float] = field(default_factory=list)
    """Mean losses of the latest normal windows, the baseline for detecting an explosion."""
    alarms: int = 0
    """Consecutive windows whose loss is far above the baseline."""
    tries: int = 0
    """Rollbacks since the best validation."""
    rate_factor: float = 1.0
    """Factor on the learning rate, lowered by rollbacks."""
    blamed: Position | None = None
    """The update of the latest non-finite loss."""
    skipped: list[Position] = field(default_factory=list)
    """Updates that are skipped, since their loss was non-finite twice."""
    micro_batch_limit: int | None = None
    """Maximum padded tokens of a micro-batch, lowered when memory ran out; None: no limit."""

    def rank(self, value: float, metrics: dict[str, float]) -> float:
        """Take in the selection metric of a validation, and return the value that ranks its checkpoint.

        Of equal ones the one with the lower loss is better: its value is raised by a little.
        """
        loss = metrics.get("loss", math.inf)
        is_tie = self.best is not None and value == self.best
        if (
            self.best is None
            or value > self.best
            or (is_tie and self.best_loss is not None and loss < self.best_loss)
        ):
            self.ties += is_tie
            self.best, self.best_step, self.best_loss, self.stale, self.tries = value, self.step, loss, 0, 0
            return value + TIE * self.ties
        self.stale += 1
        return value

    def plain(self) -> dict[str, Any]:
        """Return the state as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> "LoopState":
        """Return the state that `plain` wrote."""
        blamed, names = values.get("blamed"), {each.name for each in fields(cls)}
        return cls(
            **{name: value for name, value in values.items() if name in names}
            | {
                "position": Position(**values["position"]),
                "blamed": None if blamed is None else Position(**blamed),
                "skipped": [Position(**each) for each in values.get("skipped", [])],
                "recent": list(values.get("recent", [])),
            }
        )

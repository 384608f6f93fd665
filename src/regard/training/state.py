"""Training progress: everything but weights and optimizer that resuming needs."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from regard.data.feeds.sampler import Position


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
    stale: int = 0
    """Validations since the best one."""
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

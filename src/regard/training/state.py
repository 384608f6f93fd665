"""Where training stands."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from regard.data.feeds.sampler import Position


@dataclass
class LoopState:
    """Where training stands; with the weights and the optimizer, all it takes to go on as if never stopped."""

    step: int = 0
    position: Position = field(default_factory=Position)
    tokens_seen: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    """Seconds of these in which the loop waited for data."""
    best: float | None = None
    best_step: int = 0
    stale: int = 0
    """Validations since the best one."""
    recent: list[float] = field(default_factory=list)
    """Mean losses of the last healthy windows, to tell an explosion by."""
    alarms: int = 0
    """Windows in a row whose loss was far above those."""
    tries: int = 0
    """Returns to a good state since the best validation."""
    rate_factor: float = 1.0
    """What trouble has left of the learning rate."""
    blamed: Position | None = None
    """The update that made the loss no number the last time."""
    skipped: list[Position] = field(default_factory=list)
    """Updates that did it twice, and are left out."""
    micro_batch_limit: int | None = None
    """Padded tokens computed at once at most, since memory ran out."""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, facts: dict[str, Any]) -> "LoopState":
        """Read what `plain` wrote."""
        blamed, known = facts.get("blamed"), {each.name for each in fields(cls)}
        return cls(
            **{name: value for name, value in facts.items() if name in known}
            | {
                "position": Position(**facts["position"]),
                "blamed": None if blamed is None else Position(**blamed),
                "skipped": [Position(**each) for each in facts.get("skipped", [])],
                "recent": list(facts.get("recent", [])),
            }
        )

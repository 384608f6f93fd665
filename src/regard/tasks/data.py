"""What a task hands to the loop once its data is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.feeds.feed import Feed
from regard.objectives.loss import Objective
from regard.training.loop import Trainer


@dataclass(frozen=True)
class Prepared:
    """A model with its tokenizers, the updates it learns from, and how it is measured."""

    bundle: Bundle
    feed: Feed
    objective: Objective
    width: int
    validate: Callable[[Any], dict[str, float]]
    tests: dict[str, Any]
    """What is scored at the end, by name: pairs, or text."""
    facts: dict[str, Any]
    """What the data was: counts, what was dropped and why, hashes of files."""
    references: dict[str, list[list[str]]] = field(default_factory=dict)
    """All references of each pair, for test sets with more than one."""
    trainer: Callable[..., Any] = Trainer
    """What learns: the loop, or something that is called as it is, with a feed and an objective of its own."""

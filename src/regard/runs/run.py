"""A run, as users hold it: its folder, its score passports and its card."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.runs.reports.card import write_card
from regard.runs.scores.passport import passports_of
from regard.runs.store.folder import RunFolder


@dataclass(frozen=True)
class Run(RunFolder):
    """A trained model, or one in training."""

    @property
    def passports(self) -> dict[str, dict[str, Any]]:
        """Every score passport in the folder as plain values, by file name."""
        return passports_of(self)

    def card(self) -> Path:
        """Write README.md and curves.png from the contents of the folder, and return the card's path."""
        return write_card(self)

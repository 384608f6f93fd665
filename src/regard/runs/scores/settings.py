"""Settings of every evaluation, whatever the task."""

from pathlib import Path

from regard.config.settings import Settings


class ScoreSettings(Settings):
    """The sets that are scored, what they are compared with, and where the passports go."""

    test_set: str | None = None
    """Score on this one of the run's own test sets alone."""
    against: str | None = None
    """Compare with another run, a passport, or a file of outputs by a paired bootstrap test."""
    out: Path | None = None
    """Write the score passport here too: a .json file, or a folder."""

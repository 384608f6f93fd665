"""Errors a user can fix. Each message is one sentence: where, what was found, and the way out."""

from regard.escaping import one_line

LONGEST = 1000
"""Maximum characters of a sentence: a value from a file may be of any length."""


class RegardError(Exception):
    """An error that the user can fix; the command line prints it without a traceback.

    Several errors are several sentences, one per line whatever characters their values contain.
    """

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(map(on_one_line, sentences)))


class ConfigError(RegardError):
    """A setting that is unknown, of the wrong type or impossible."""


class DataError(RegardError):
    """Text that cannot be read, aligned or used."""


class CheckpointError(RegardError):
    """A saved model that is missing, damaged or too new."""


class RunError(RegardError):
    """A run that cannot start or resume in the given folder."""


class RunInterrupted(RegardError):
    """A run that SIGTERM has stopped; everything is saved, and it can be resumed."""


def on_one_line(sentence: str) -> str:
    """Return a sentence with control characters escaped, truncated in the middle at LONGEST characters."""
    shown = one_line(sentence)
    half = LONGEST // 2
    return shown if len(shown) <= LONGEST else f"{shown[:half]} … {shown[-half:]}"

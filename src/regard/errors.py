"""The mistakes a user can make. Each message is one sentence: where, what was found, and the way out."""

from regard.escaping import one_line

LONGEST = 1000
"""Characters of a sentence at most: a value out of a file may be of any length."""


class RegardError(Exception):
    """A mistake that the user can mend; the command line prints it without a traceback.

    Several mistakes are several sentences, each on a line of its own whatever the values it shows.
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
    """A run that cannot start or go on where it was told to."""


def on_one_line(sentence: str) -> str:
    """Return a sentence whose control characters are shown by their codes, cut in the middle if it is very long."""
    shown = one_line(sentence)
    half = LONGEST // 2
    return shown if len(shown) <= LONGEST else f"{shown[:half]} … {shown[-half:]}"

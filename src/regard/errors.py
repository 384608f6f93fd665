"""The mistakes a user can make. Each message is one sentence: where, what was found, and the way out."""


class RegardError(Exception):
    """A mistake that the user can mend; the command line prints it without a traceback."""


class ConfigError(RegardError):
    """A setting that is unknown, of the wrong type or impossible."""


class DataError(RegardError):
    """Text that cannot be read, aligned or used."""


class CheckpointError(RegardError):
    """A saved model that is missing, damaged or too new."""


class RunError(RegardError):
    """A run that cannot start or go on where it was told to."""

"""A sentence and its translation."""

from typing import NamedTuple


class Pair(NamedTuple):
    """Two texts of the same meaning."""

    source: str
    target: str

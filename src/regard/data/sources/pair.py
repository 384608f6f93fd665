"""A sentence and its translation."""

from typing import Annotated, NamedTuple

from regard.config.schema import Doc


class Pair(NamedTuple):
    """Two texts of the same meaning."""

    source: Annotated[str, Doc("The source sentence.")]
    target: Annotated[str, Doc("Its translation.")]

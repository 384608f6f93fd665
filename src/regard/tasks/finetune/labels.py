"""Checks of labels that several tasks share."""

from collections import Counter
from collections.abc import Sequence

from regard.config.parsing import parse_integer
from regard.errors import DataError


def check_labels(name: str, counts: Counter[str], known: Sequence[str]) -> None:
    """Refuse labels that do not occur in the training set."""
    for label, count in counts.items():
        if label not in known:
            times = "once" if count == 1 else f"{count:,} times"
            raise DataError(
                f'{name}: the label "{label}" ({times}) does not occur in the training set '
                f"({', '.join(known)}); add examples of it there, or leave these out."
            )


def label_at(number: str, known: Sequence[str]) -> str | None:
    """Return the label with an id given as text; None if there is none."""
    index = parse_integer(number)
    return None if index is None or not 0 <= index < len(known) else known[index]

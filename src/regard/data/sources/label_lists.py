"""Detection of sources whose rows have lists of labels."""

from collections.abc import Sequence
from contextlib import suppress

from regard.data.settings.examples import ClassSource
from regard.data.sources.cells import value_of
from regard.data.sources.labeled import MINIATURE, find_columns
from regard.data.sources.tables import GLANCE, read_rows, table_of_lines
from regard.errors import RegardError


def lists_labels(source: object, lines: Sequence[str] = ()) -> bool:
    """Return whether a source has lists of labels: a separator is set, or the first label of JSON is a list.

    `lines` are the records of a source that is yet to be written.
    """
    if not isinstance(source, ClassSource) or source.label_separator or source.path.startswith(MINIATURE):
        return isinstance(source, ClassSource) and source.label_separator is not None
    if source.path.removesuffix(".gz").lower().endswith((".csv", ".tsv")):
        return False
    with suppress(RegardError, OSError):  # refused when it is read
        if lines:
            table = table_of_lines(source.path, lines[:GLANCE])
        else:
            table = read_rows(source.path, source.config, source.split, lambda row: True, GLANCE)
        label = find_columns(table, source).label or ""
        values = (value_of(row, label) for _, row in table.rows)
        return isinstance(next((each for each in values if each is not None), None), list | tuple)
    return False

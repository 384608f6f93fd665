"""Values of table cells and record fields: a text, a label, a number or a list of them."""

import math
import re
from collections.abc import Mapping
from typing import Any

from regard.config.parsing import NUMBER, ParseError, parse_integer, parse_json, parse_number
from regard.data.sources.lines import is_text
from regard.data.sources.records import value_in
from regard.errors import DataError

Row = Mapping[str, Any]

_ENTRY = re.compile(
    r"""\s*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s,'"\[\]]+))\s*,?""", re.S
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def value_of(row: Row, name: str) -> Any:
    """Return a row's value under a name (dots reach into nested fields); None if it has none."""
    return row[name] if name in row else value_in(row, name)


def text_in(row: Row, name: str, where: str, way_out: str) -> str:
    """Return a row's text under a name; a blank row has an empty text."""
    if not row:
        return ""
    value = value_of(row, name)
    if not isinstance(value, str):
        held = f"it has {', '.join(map(str, row))}" if value is None else f"but {kind_of(value)}"
        raise DataError(f'{where} has no text under "{name}" ({held}); {way_out}.')
    return whole(value, where, name).strip()


def label_in(row: Row, name: str, where: str, way_out: str) -> str:
    """Return a row's label under a name as text; an empty cell and NaN give an empty label."""
    return _as_label(value_of(row, name), where, name, way_out)


def labels_in(row: Row, name: str, where: str, way_out: str) -> list[str]:
    """Return a row's list of labels or words under a name; a table may write the list as text."""
    value = value_of(row, name)
    if isinstance(value, str):
        value = parse_list(value)
        if value is None:
            shown = value_of(row, name)[:40]
            raise DataError(f'{where} has a list under "{name}" that cannot be read ({shown}); {way_out}.')
    if not isinstance(value, list | tuple):
        raise DataError(f'{where} has no list under "{name}"; {way_out}.')
    return [_as_label(each, where, name, way_out) for each in value]


def label_set_in(row: Row, name: str, separator: str | None, where: str, way_out: str) -> tuple[str, ...] | None:
    """Return the labels in a list or in a cell that a separator divides, sorted; None: the row has one label or none.

    A label that is listed twice is refused: such a list is a vector of zeros and ones as a rule.
    """
    value = value_of(row, name)
    if separator is not None and (value is None or isinstance(value, str)):
        value = [each for each in map(str.strip, (value or "").split(separator)) if each]
    if not isinstance(value, list | tuple):
        return None
    labels = [_as_label(each, where, name, way_out) for each in value]
    if "" in labels:
        raise DataError(f'{where} has an empty label in the list under "{name}"; leave it out.')
    if twice := next((each for each in labels if labels.count(each) > 1), None):
        raise DataError(f'{where} lists "{twice}" twice under "{name}"; list the names of its labels, each once.')
    return tuple(sorted(labels))


def integer_in(value: Any) -> int | None:
    """Return a cell's integer (3, "3", 3.0 or "3.0"); None for anything else."""
    if isinstance(value, str):
        integer = parse_integer(value)
        value = parse_number(value) if integer is None else integer
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else None


def whole(text: str, where: str, name: str) -> str:
    """Return a text; one with a lone surrogate is refused."""
    if not is_text(text):
        raise DataError(f'{where} has half a character (a lone surrogate) under "{name}"; write it whole.')
    return text


def parse_list(cell: str) -> list[Any] | None:
    """Return the entries of a cell: a list as JSON, Python or NumPy write it, or else words split at white space.

    None: the cell is in brackets but is not a list.
    """
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")):
        return cell.split()
    try:
        value = parse_json(cell)
        return value if isinstance(value, list) else None
    except ParseError:
        return _parse_plain_list(cell[1:-1])


def _parse_plain_list(inside: str) -> list[Any] | None:
    """Return the entries between the brackets of a list of strings and numbers; None for anything else."""
    entries: list[Any] = []
    position = 0
    while position < len(inside.rstrip()):
        match = _ENTRY.match(inside, position)
        if match is None:
            return None
        position = match.end()
        if (bare := match["bare"]) is not None:
            if bare not in ("None", "nan") and not NUMBER.fullmatch(bare):
                return None
            entries.append(None if bare in ("None", "nan") else bare)
        else:
            entries.append(_ESCAPE.sub(_unescaped, match["one"] if match["two"] is None else match["two"]))
    return entries


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])


def _as_label(value: Any, where: str, name: str, way_out: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return whole(value, where, name).strip()
    if not isinstance(value, int | float):
        raise DataError(
            f'{where} has {kind_of(value)} under "{name}", where one text or number is needed; {way_out}.'
        )
    return str(value)


def kind_of(value: Any) -> str:
    """Return a description of a JSON value's type."""
    if isinstance(value, Mapping):
        return "a JSON object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int | float):
        return f"the number {value!r:.40}"
    return f"a value of type {type(value).__name__}"

"""Records with named fields: lines of JSON and rows of `datasets` sets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.config.parsing import ParseError, parse_json
from regard.errors import DataError

NO_FIELDS: dict[str, Any] = {}
"""What every empty record is: a million of them are one."""


def json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    """Return the object that a line of JSON holds."""
    try:
        row = parse_json(line, keys_once=True)
    except ParseError as error:
        raise DataError(f"{path}: line {number} is not JSON ({error.reason}); write one object a line.") from None
    if not isinstance(row, dict):
        raise DataError(f"{path}: line {number} is not a JSON object; write one object a line.")
    return row or NO_FIELDS


def value_in(row: Mapping[str, Any], name: str) -> Any:
    """Return what a record holds under a name, whose dots reach inside; None if there is nothing."""
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def dataset_rows(rows: Any, place: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a `datasets` set; one that cannot be decoded (an image without its library) is refused."""
    found, number = iter(rows), 0
    while True:
        try:
            row, number = next(found), number + 1
        except StopIteration:
            return
        except Exception as error:  # the library raises many kinds
            raise DataError(
                f"{place}: record {number + 1} cannot be read ({_reason(error)}); remove the column it is about."
            ) from None
        yield row


def load_datasets(place: str, config: str | None, split: str) -> Any:
    """Return the rows of a Hugging Face `datasets` set, given as hf: and its name or folder."""
    try:
        import datasets
    except ImportError:
        raise DataError(f"{place}: this needs the datasets library; pip install 'regard[hf]'.") from None
    name = place.removeprefix("hf:")
    if not name:
        raise DataError(f"{place}: the name of the data set is missing; write hf:NAME, or hf: and a folder.")
    try:
        if (Path(name) / "state.json").is_file() or (Path(name) / "dataset_dict.json").is_file():
            found = datasets.load_from_disk(name)
            splits = list(found) if isinstance(found, dict) else ["train"]  # one that stands alone has no name
            if split not in splits:
                raise DataError(f'{place}: there is no split "{split}"; it has {", ".join(splits)}.')
            return found[split] if isinstance(found, dict) else found
        return datasets.load_dataset(name, config, split=split)
    except DataError:
        raise
    except Exception as error:  # the library raises many kinds, for network, names, splits and formats
        way_out = "check its name, its split and the network, or give files"
        raise DataError(f"{place}: the data set cannot be loaded ({_reason(error)}); {way_out}.") from None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__

"""Records with named fields: lines of JSON and rows of `datasets` sets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.config.parsing import ParseError, parse_json
from regard.errors import DataError

NO_FIELDS: dict[str, Any] = {}
"""The one empty record, shared by all blank lines."""


def json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    """Return the object of a line of JSON."""
    try:
        row = parse_json(line, keys_once=True)
    except ParseError as error:
        raise DataError(f"{path}: line {number} is not JSON ({error.reason}); write one object per line.") from None
    if not isinstance(row, dict):
        raise DataError(f"{path}: line {number} is not a JSON object; write one object per line.")
    return row or NO_FIELDS


def value_in(row: Mapping[str, Any], name: str) -> Any:
    """Return a record's value under a name (dots reach into nested fields); None if it has none."""
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def dataset_rows(rows: Any, origin: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a data set; a row that cannot be decoded (an image without its library) is refused."""
    records, number = iter(rows), 0
    while True:
        try:
            row, number = next(records), number + 1
        except StopIteration:
            return
        except Exception as error:  # the library raises many kinds
            raise DataError(
                f"{origin}: record {number + 1} cannot be read ({_reason(error)}); remove the column it is about."
            ) from None
        yield row


def load_datasets(origin: str, config: str | None, split: str) -> Any:
    """Return the rows of a Hugging Face data set, given as hf:NAME or hf:FOLDER."""
    try:
        import datasets
    except ImportError:
        raise DataError(f"{origin}: this needs the datasets library; pip install 'regard[hf]'.") from None
    name = origin.removeprefix("hf:")
    if not name:
        raise DataError(f"{origin}: the name of the data set is missing; write hf:NAME, or hf: and a folder.")
    try:
        if (Path(name) / "state.json").is_file() or (Path(name) / "dataset_dict.json").is_file():
            data = datasets.load_from_disk(name)
            splits = list(data) if isinstance(data, dict) else ["train"]  # a single split has no name
            if split not in splits:
                raise DataError(f'{origin}: there is no split "{split}"; it has {", ".join(splits)}.')
            return data[split] if isinstance(data, dict) else data
        return datasets.load_dataset(name, config, split=split)
    except DataError:
        raise
    except Exception as error:  # the library raises many kinds, for network, names, splits and formats
        way_out = "check its name, its split and the network, or give files"
        raise DataError(f"{origin}: the data set cannot be loaded ({_reason(error)}); {way_out}.") from None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__

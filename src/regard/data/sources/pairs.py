"""Sentence pairs out of files, `datasets` and the miniature world."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from regard import miniature
from regard.data.settings.pairs import PairSource
from regard.data.sources.lines import is_text, read_lines
from regard.data.sources.pair import Pair
from regard.data.sources.records import dataset_rows, load_datasets, value_in
from regard.data.sources.tables import check_cells, find_column, json_rows, split_rows
from regard.errors import DataError
from regard.progress import SILENT, Progress

CHUNK = 512
"""Pairs made between two moves of the bar."""

KNOWN_HEADERS = (("source", "target"), ("src", "tgt"), ("src", "trg"))


def read_pairs(place: PairSource, progress: Progress = SILENT) -> list[Pair]:
    """Return all pairs of a place, in order."""
    if place.path is None:
        pairs = read_aligned(Path(str(place.source)), Path(str(place.target)))
    elif place.path.startswith("miniature:"):
        pairs = make_miniature(place.path.removeprefix("miniature:"), place.max_rows, progress)
    elif place.path.startswith("hf:"):
        pairs = read_datasets(place)
    else:
        pairs = read_table(Path(place.path), place, progress)
    if not pairs:
        raise DataError(f"{place.name}: there are no sentence pairs in it.")
    if place.max_rows is not None and len(pairs) > place.max_rows:
        progress.say(f"{place.name}: the first {place.max_rows:,} of {len(pairs):,} pairs are used (count).")
    return pairs[: place.max_rows]


def read_references(place: PairSource, pairs: Sequence[Pair]) -> list[list[str]]:
    """Return all references of each pair: its target, and what further files or columns of the place say."""
    found = [[pair.target] for pair in pairs]
    changes: list[dict[str, Any]] = [{"target": file} for file in place.references]
    changes += [{"target_column": column} for column in place.reference_columns]
    for change in changes:
        others = read_pairs(place.model_copy(update=change))
        if len(others) != len(pairs):  # a header row is one only where a column is called by its name
            raise DataError(
                f"{place.name}: {len(pairs):,} targets but {len(others):,} further references; call all columns by "
                f"name, or all by number."
            )
        for choices, other in zip(found, others, strict=True):
            choices.append(other.target)
    return found


def make_miniature(split: str, count: int | None, progress: Progress = SILENT) -> list[Pair]:
    """Return pairs of the miniature world, made on the spot."""
    sentences = miniature.generate(split)
    count = count or miniature.SPLITS[split].size
    pairs: list[Pair] = []
    with progress.bar(f"make {split}", count) as bar:
        while len(pairs) < count:
            chunk = [Pair(*pair) for pair in islice(sentences, min(CHUNK, count - len(pairs)))]
            pairs += chunk
            bar.advance(len(chunk))
    return pairs


def read_aligned(source: Path, target: Path) -> list[Pair]:
    """Return the pairs of two files with one sentence a line."""
    sources, targets = read_lines(source), read_lines(target)
    check_same_length(source, target, sources, targets)
    return [Pair(left, right) for left, right in zip(sources, targets, strict=True)]


def check_same_length(source: Path, target: Path, sources: Sequence[str], targets: Sequence[str]) -> None:
    """Refuse two files that cannot be aligned line by line, and say where the shift may begin."""
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources):,} lines but {target} has {len(targets):,}"
            f"{_shift(source, target, sources, targets)}; each line must be the translation of its neighbor."
        )


def _shift(source: Path, target: Path, sources: Sequence[str], targets: Sequence[str]) -> str:
    """Return a hint at the first line that is blank on one side only."""
    for number, (left, right) in enumerate(zip(sources, targets), start=1):
        if bool(left.strip()) != bool(right.strip()):
            blank = target if left.strip() else source
            return f", and line {number:,} is blank in {blank} only, so the shift may begin there"
    return ""


def read_table(path: Path, place: PairSource, progress: Progress = SILENT) -> list[Pair]:
    """Return the pairs of a .tsv, .csv or .jsonl file."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return _from_records(json_rows(path), place, path)
    if suffix in (".tsv", ".csv"):
        return _from_rows(path, suffix, place, progress)
    if suffix == ".json":
        raise DataError(f"{path}: .json holds one value; write one object a line and call the file .jsonl.")
    raise DataError(
        f'{path}: the ending "{suffix}" says nothing about pairs; use .tsv, .csv or .jsonl (each also .gz), '
        f"or give two files as source and target."
    )


def read_datasets(place: PairSource) -> list[Pair]:
    """Return the pairs of a Hugging Face `datasets` set, by name or from a folder."""
    rows = load_datasets(str(place.path), place.config, place.split)
    return _from_records(dataset_rows(rows, str(place.path)), place, str(place.path))


def _from_records(rows: Iterable[dict[str, Any]], place: PairSource, origin: Path | str) -> list[Pair]:
    source = "source" if place.source_column is None else str(place.source_column)
    target = "target" if place.target_column is None else str(place.target_column)
    return [
        Pair(_field(row, source, origin, number), _field(row, target, origin, number))
        for number, row in enumerate(rows, start=1)
    ]


def _field(row: dict[str, Any], name: str, origin: Path | str, number: int) -> str:
    if not row:  # a blank line, which cleaning will count
        return ""
    value = value_in(row, name)
    if isinstance(value, str):
        if not is_text(value):
            raise DataError(f'{origin}: record {number} has half a character (a lone surrogate) under "{name}".')
        return value
    raise DataError(
        f'{origin}: record {number} has no text under "{name}" (it has {", ".join(map(str, row))}); '
        f"name the fields with source_column and target_column."
    )


def _from_rows(path: Path, suffix: str, place: PairSource, progress: Progress) -> list[Pair]:
    rows = split_rows(path, suffix)
    blank = next((place for place, (_, row) in enumerate(rows) if "".join(row).strip()), len(rows))
    rows, missing = rows[blank:], [Pair("", "")] * blank  # what cleaning is to count
    if not rows:
        return missing
    header = [cell.strip().lower() for cell in rows[0][1]]
    known = next((names for names in KNOWN_HEADERS if set(names) <= set(header)), None)
    source, target = place.source_column, place.target_column
    if isinstance(source, str) or isinstance(target, str) or (known and source is None and target is None):
        names = known or ("source", "target")
        first = find_column(path, rows[0][1], source if source is not None else names[0])
        second = find_column(path, rows[0][1], target if target is not None else names[1])
        rows = rows[1:]
    else:
        if source is None and target is None and len(header) != 2:
            if len(header) == 1:
                separator = "a tab" if suffix == ".tsv" else "a comma"
                raise DataError(f"{path}: the first row is one column; a {suffix} needs {separator} between the two.")
            raise DataError(
                f"{path}: the first row has {len(header)} columns; say which two to use with source_column and "
                f"target_column (numbers from 0, or names in a header row)."
            )
        first, second = 0 if source is None else source, 1 if target is None else target
    if first == second:
        raise DataError(f"{path}: source and target are both column {first}; name two columns.")
    for number, row in rows:
        check_cells(path, number, row, len(header))
    pairs = [_row_pair(path, number, row, first, second) for number, row in rows]
    shown = f'; the first pair is "{pairs[0].source}" and "{pairs[0].target}"' if pairs else ""
    progress.say(f"{path.name}: source is column {first}, target is column {second} (counted from 0){shown}.")
    return missing + pairs


def _row_pair(path: Path, number: int, row: Sequence[str], first: int, second: int) -> Pair:
    if not any(cell.strip() for cell in row):  # a blank line, which cleaning will count
        return Pair("", "")
    if max(first, second) >= len(row):
        raise DataError(
            f"{path}: line {number} has {len(row)} column{'s' if len(row) != 1 else ''}, "
            f"but column {max(first, second)} (counted from 0) is needed."
        )
    return Pair(row[first], row[second])

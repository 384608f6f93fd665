"""Sentence pairs from files, `datasets` and the miniature world."""

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
"""Pairs generated between two updates of the progress bar."""

KNOWN_HEADERS = (("source", "target"), ("src", "tgt"), ("src", "trg"))


def read_pairs(source: PairSource, progress: Progress = SILENT) -> list[Pair]:
    """Return all pairs of a source, in order."""
    if source.path is None:
        pairs = read_aligned(Path(str(source.source)), Path(str(source.target)))
    elif source.path.startswith("miniature:"):
        pairs = make_miniature(source.path.removeprefix("miniature:"), source.max_rows, progress)
    elif source.path.startswith("hf:"):
        pairs = read_datasets(source)
    else:
        pairs = read_table(Path(source.path), source, progress)
    if not pairs:
        raise DataError(f"{source.name}: there are no sentence pairs in it.")
    if source.max_rows is not None and len(pairs) > source.max_rows:
        progress.info(f"{source.name}: the first {source.max_rows:,} of {len(pairs):,} pairs are used (max_rows).")
    return pairs[: source.max_rows]


def read_references(source: PairSource, pairs: Sequence[Pair]) -> list[list[str]]:
    """Return all references of each pair: its target, and those of further files or columns."""
    references = [[pair.target] for pair in pairs]
    changes: list[dict[str, Any]] = [{"target": file} for file in source.references]
    changes += [{"target_column": column} for column in source.reference_columns]
    for change in changes:
        others = read_pairs(source.model_copy(update=change))
        if len(others) != len(pairs):  # the first row is a header only if a column is given by name
            raise DataError(
                f"{source.name}: {len(pairs):,} targets but {len(others):,} further references; give all columns by "
                f"name, or all by number."
            )
        for choices, other in zip(references, others, strict=True):
            choices.append(other.target)
    return references


def make_miniature(split: str, count: int | None, progress: Progress = SILENT) -> list[Pair]:
    """Return generated pairs of the miniature world."""
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
    """Refuse files of different length, with the first line where the alignment may break."""
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources):,} lines but {target} has {len(targets):,}"
            f"{_shift(source, target, sources, targets)}; each line must be the translation of the same line in "
            f"the other file."
        )


def _shift(source: Path, target: Path, sources: Sequence[str], targets: Sequence[str]) -> str:
    """Return a phrase about the first line that is blank on one side only."""
    for number, (left, right) in enumerate(zip(sources, targets), start=1):
        if bool(left.strip()) != bool(right.strip()):
            blank = target if left.strip() else source
            return f", and line {number:,} is blank in {blank} only, so the shift may begin there"
    return ""


def read_table(path: Path, source: PairSource, progress: Progress = SILENT) -> list[Pair]:
    """Return the pairs of a .tsv, .csv or .jsonl file."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return _from_records(json_rows(path), source, path)
    if suffix in (".tsv", ".csv"):
        return _from_rows(path, suffix, source, progress)
    if suffix == ".json":
        raise DataError(f"{path}: .json holds one value; write one object per line and name the file .jsonl.")
    raise DataError(
        f'{path}: the extension "{suffix}" is not a format of pairs; use .tsv, .csv or .jsonl (each also .gz), '
        f"or give two files as source and target."
    )


def read_datasets(source: PairSource) -> list[Pair]:
    """Return the pairs of a Hugging Face data set, by name or from a folder."""
    rows = load_datasets(str(source.path), source.config, source.split)
    return _from_records(dataset_rows(rows, str(source.path)), source, str(source.path))


def _from_records(rows: Iterable[dict[str, Any]], source: PairSource, origin: Path | str) -> list[Pair]:
    first = "source" if source.source_column is None else str(source.source_column)
    second = "target" if source.target_column is None else str(source.target_column)
    return [
        Pair(_field(row, first, origin, number), _field(row, second, origin, number))
        for number, row in enumerate(rows, start=1)
    ]


def _field(row: dict[str, Any], name: str, origin: Path | str, number: int) -> str:
    if not row:  # a blank line, counted by cleaning
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


def _from_rows(path: Path, suffix: str, source: PairSource, progress: Progress) -> list[Pair]:
    rows = split_rows(path, suffix)
    blank = next((index for index, (_, row) in enumerate(rows) if "".join(row).strip()), len(rows))
    rows, missing = rows[blank:], [Pair("", "")] * blank  # counted by cleaning
    if not rows:
        return missing
    header = [cell.strip().lower() for cell in rows[0][1]]
    known = next((names for names in KNOWN_HEADERS if set(names) <= set(header)), None)
    left, right = source.source_column, source.target_column
    if isinstance(left, str) or isinstance(right, str) or (known and left is None and right is None):
        names = known or ("source", "target")
        first = find_column(path, rows[0][1], left if left is not None else names[0])
        second = find_column(path, rows[0][1], right if right is not None else names[1])
        rows = rows[1:]
    else:
        if left is None and right is None and len(header) != 2:
            if len(header) == 1:
                separator = "a tab" if suffix == ".tsv" else "a comma"
                raise DataError(f"{path}: the first row is one column; a {suffix} needs {separator} between the two.")
            raise DataError(
                f"{path}: the first row has {len(header)} columns; name two with source_column and "
                f"target_column (numbers from 0, or names in a header row)."
            )
        first, second = 0 if left is None else left, 1 if right is None else right
    if first == second:
        raise DataError(f"{path}: source and target are both column {first}; name two columns.")
    for number, row in rows:
        check_cells(path, number, row, len(header))
    pairs = [_row_pair(path, number, row, first, second) for number, row in rows]
    shown = f'; the first pair is "{pairs[0].source}" and "{pairs[0].target}"' if pairs else ""
    progress.info(f"{path.name}: source is column {first}, target is column {second} (counted from 0){shown}.")
    return missing + pairs


def _row_pair(path: Path, number: int, row: Sequence[str], first: int, second: int) -> Pair:
    if not any(cell.strip() for cell in row):  # a blank line, counted by cleaning
        return Pair("", "")
    if max(first, second) >= len(row):
        raise DataError(
            f"{path}: line {number} has {len(row)} column{'s' if len(row) != 1 else ''}, "
            f"but column {max(first, second)} (counted from 0) is needed."
        )
    return Pair(row[first], row[second])

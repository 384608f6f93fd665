"""Batch jobs: files in, files out, in parts that are each done once, whoever is killed; shards share a folder.

A part is a fixed number of rows of one file, so the outputs do not depend on the number of shards. It is written
atomically: its file is the marker that it is complete. Whoever completes the last part of a file joins them.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.checkpoint.atomic import fingerprint, write_chunks, write_json
from regard.config.parsing import parse_integer
from regard.config.records import Record, read_record
from regard.errors import ConfigError, DataError, RunError
from regard.pipelines.result_tables import ResultTable
from regard.pipelines.settings import PART, JobSettings
from regard.pipelines.text_tables import TextTable
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.pipelines.base import Pipeline, Result

RECORD, PARTS, FORMAT = "job.json", ".parts", 1


class JobRecord(Record):
    """The identity of a job: a folder with the outputs of another one is refused."""

    format: int
    request: dict[str, object]
    """The operation, its model and its options."""
    files: dict[str, str]
    """The SHA-256 of each input."""


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of a job, numbered from 1 to count."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Return the shard of a text such as 3/16."""
        first, _, last = text.partition("/")
        number, count = parse_integer(first), parse_integer(last)
        if number is None or count is None or not 1 <= number <= count:
            raise ConfigError(f'--shard: "{text}" is not a shard; write it as K/N, from 1/N to N/N.')
        return cls(number, count)

    def has(self, unit: int) -> bool:
        """Return whether a unit of work, counted from 0, is this shard's."""
        return unit % self.count == self.number - 1


@dataclass(frozen=True)
class JobInput:
    """The rows of a file; None is a blank one. A table keeps its columns."""

    rows: Sequence[Any | None]
    where: Sequence[str]
    table: TextTable | None = None


Read = Callable[[Path], JobInput]


@dataclass
class JobCounts:
    """Counts of the work of a call."""

    rows: int = 0
    parts: int = 0
    done_before: int = 0
    """Parts that were complete already."""
    elsewhere: int = 0
    """Parts that other shards have still to do."""
    files: list[Path] = field(default_factory=list)
    """The outputs that are complete."""

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows in {self.parts:,} parts; {self.done_before:,} parts were complete before, "
            f"{self.elsewhere:,} are left to other shards; {len(self.files):,} files are complete."
        )


@dataclass(frozen=True)
class BatchJob:
    """A pipeline with its options, the inputs and the folder of the outputs."""

    pipeline: "Pipeline[Any, Any, Any]"
    options: Any
    files: Sequence[Path]
    out: Path
    read: Read
    request: dict[str, object]
    shard: Shard = Shard()
    part_rows: int = PART
    is_json: bool = False
    """Write an object of JSON for each line of a file of lines, too."""

    @classmethod
    def of(cls, job: JobSettings, **others: Any) -> "BatchJob":
        """Return the job of settings; the others are its further fields."""
        shard, part_rows = Shard.parse(job.shard or "1/1"), job.part_rows or PART
        return cls(files=input_files(job.files), shard=shard, part_rows=part_rows, **others)

    def run(self, progress: Progress = SILENT) -> JobCounts:
        """Do the parts of this shard that are not complete, and join those of finished files."""
        names = output_names(self.files)
        self._claim(names)
        counts, unit = JobCounts(), 0
        with progress.bar("files", len(self.files)) as bar:
            for file in self.files:
                output = self.out / names[file]
                if output.exists():  # its units are counted all the same, for those after it
                    counts.files.append(output)
                unit = self._file(file, output, unit, counts, progress)
                bar.advance(1)
        return counts

    def _claim(self, names: dict[Path, str]) -> None:
        """Record the job in its folder, or check that the one there is this one."""
        record, what = self.out / RECORD, "the record of a batch job"
        hashes = {names[file]: str(fingerprint(file)["sha256"]) for file in self.files}
        mine = JobRecord(format=FORMAT, request=self.request | {"part_rows": self.part_rows}, files=hashes)
        self.out.mkdir(parents=True, exist_ok=True)
        try:
            there = read_record(record, JobRecord, RunError, what)
        except FileNotFoundError:
            if taken := [name for name in names.values() if (self.out / name).exists()]:
                raise RunError(f"{self.out / taken[0]}: the file exists; choose another folder with --out.") from None
            write_json(record, mine.model_dump())
            return
        if there != mine:
            requests = there.request | {"inputs": there.files}, mine.request | {"inputs": mine.files}
            names_of = sorted(key for key in {**requests[0], **requests[1]} if _differ(*requests, key))
            raise RunError(
                f"{self.out}: there is another batch job here already, with other {' and '.join(names_of)}; choose "
                f"another folder with --out."
            )

    def _file(self, file: Path, output: Path, unit: int, counts: JobCounts, progress: Progress) -> int:
        """Do the parts of one file and return the number of the next unit."""
        given, folder = self.read(file), self.out / PARTS / output.relative_to(self.out)
        starts = range(0, max(1, len(given.rows)), self.part_rows)
        parts = [folder / f"{number:06d}.part" for number in range(len(starts))]
        for part, start in zip(parts, starts, strict=True):
            if part.exists() or output.exists():  # in this order: parts are removed after the file is there
                counts.done_before += 1
            elif self.shard.has(unit):
                part.parent.mkdir(parents=True, exist_ok=True)
                end = start + self.part_rows
                write_chunks(part, [self._answered(given, slice(start, end), progress)])
                counts.parts, counts.rows = counts.parts + 1, counts.rows + len(given.rows[start:end])
            else:
                counts.elsewhere += 1
            unit += 1
        if not output.exists() and all(part.exists() for part in parts):
            _join(parts, folder, output)
            counts.files.append(output)
        if output.exists():
            _remove(folder, self.out / PARTS)
        return unit

    def _answered(self, given: JobInput, some: slice, progress: Progress) -> bytes:
        """Return the output of some rows."""
        rows, where = given.rows[some], given.where[some]
        results = self.pipeline.answers(rows, self.options, where, progress, first_row=some.start + 1)
        if given.table is not None:
            return "".join(map(_json_line, _records(given.table, some, results))).encode()
        if self.is_json:
            return "".join(_json_line(result and result.to_dict()) for result in results).encode()
        numbered = enumerate(results, some.start + 1)
        lines = (line for number, each in numbered for line in ([""] if each is None else each.row_lines(number)))
        return "".join(f"{line}\n" for line in lines).encode()


def input_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files of paths and patterns in order of their names; a pattern without a file is refused."""
    files = []
    for pattern in patterns:
        paths = map(Path, glob(pattern, recursive=True))  # noqa: PTH207  # a pattern may be absolute
        named = sorted(path for path in paths if path.is_file())
        if not named:
            raise DataError(f"--files {pattern}: there is no such file; correct the path or pattern.")
        files += named
    return list(dict.fromkeys(files))


def output_names(files: Sequence[Path]) -> dict[Path, str]:
    """Return the name of the output of each file: its path below the folder that all have in common."""
    if not files:
        raise DataError("--files: no file is named so; correct the pattern.")
    root = Path(os.path.commonpath([file.absolute().parent for file in files]))
    names: dict[Path, str] = {}
    for file in files:
        inner = str(file.absolute().relative_to(root))
        plain = inner.removesuffix(".gz")
        suffix = Path(plain).suffix.lower()
        name = plain if suffix not in TABLES or suffix == ".jsonl" else f"{plain}.jsonl"
        names[file] = name + inner[len(plain) :]
    if doubled := [name for name in names.values() if list(names.values()).count(name) > 1]:
        raise DataError(f"--files: two of them would be written to {doubled[0]}; rename one.")
    return names


TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
"""Suffixes of tables, whose outputs are JSON lines."""


def _records(table: TextTable, some: slice, results: "Sequence[Result | None]") -> Iterator[dict[str, object]]:
    part = TextTable(table.names, table.rows[some], table.texts[some], table.where[some])
    yield from ResultTable(part, results).records()


def _json_line(record: dict[str, object] | None) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _differ(one: dict[str, object], other: dict[str, Any], key: str) -> bool:
    return bool(one.get(key) != other.get(key))


def _join(parts: Sequence[Path], folder: Path, output: Path) -> None:
    """Write the parts of a file to its output, unless another shard is faster."""
    output.parent.mkdir(parents=True, exist_ok=True)
    joined = folder / output.name
    try:
        write_chunks(joined, (part.read_bytes() for part in parts))
        joined.replace(output)
    except FileNotFoundError:
        if not output.exists():
            raise


def _remove(folder: Path, root: Path) -> None:
    """Remove the parts of a file, and empty folders above them."""
    for path in folder.glob("*") if folder.is_dir() else ():
        path.unlink(missing_ok=True)
    with suppress(OSError):  # not empty: other files have parts there
        while folder != root.parent:
            folder.rmdir()
            folder = folder.parent

"""The folder of a study of several runs: its request, its runs, its results and its report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from regard.checkpoint.verification import remove_folder
from regard.config.records import Record, check_record, read_json
from regard.errors import RunError
from regard.runs.run import Run
from regard.runs.store.folder import LOCK
from regard.runs.store.listing import check_deletable

RESULTS, REPORT = "results.json", "report.html"
FORMAT = 2
R = TypeVar("R", bound="StudyRecord")
ENDED = ("finished", "no improvement")
"""States of a run whose training has ended."""
STOPPED = "Stopped; everything is saved. The same command resumes it."


class StudyRecord(Record):
    """The record of a study."""

    format: int


@dataclass(frozen=True)
class StudyFolder:
    """The folder of one study; subclasses declare its kind, schemas and subfolders."""

    path: Path

    kind: ClassVar[str]
    part: ClassVar[str]
    """Name of its parts, each of which has a run."""
    results_schema: ClassVar[type[Record]]
    folders: ClassVar[tuple[str, ...]]
    """Subfolders that belong to it."""

    @property
    def file(self) -> Path:
        """The file of its record."""
        return self.path / f"{self.kind}.json"

    @property
    def exists(self) -> bool:
        """True where the folder has a record of such a study."""
        return self.file.is_file()

    def read_as(self, schema: type[R]) -> R:
        """Return the record, of a schema: the request, and for a race its plan."""
        what = f"the record of a {self.kind} that this version of regard can read"
        try:
            value = read_json(self.file, RunError, what)
        except FileNotFoundError:
            raise RunError(
                f"{self.path}: there is no {self.kind} here ({self.file.name} is missing); check the path."
            ) from None
        record = check_record(value, self.file, schema, RunError, what)
        if record.format != FORMAT:
            raise RunError(f"{self.file}: this is not {what} (format is {record.format}, not {FORMAT}).")
        return record

    @property
    def results(self) -> dict[str, Any]:
        """The results, once a part has finished."""
        path, what = self.path / RESULTS, f"the results of a {self.kind}"
        way_out = "the same command writes them again"
        try:
            value = read_json(path, RunError, what, way_out)
        except FileNotFoundError:
            raise RunError(
                f"{self.path}: no {self.part} of this {self.kind} has finished yet; resume it with the same command."
            ) from None
        check_record(value, path, self.results_schema, RunError, what, way_out)
        return dict(value)

    @property
    def report(self) -> Path:
        """The file of the self-contained report."""
        return self.path / REPORT

    def check_free(self) -> None:
        """Refuse a folder with other content."""
        is_empty = self.path.is_dir() and all(entry.name == LOCK for entry in self.path.iterdir())
        if self.path.exists() and not is_empty:
            raise RunError(f"{self.path}: this exists and is not a {self.kind}; choose another folder with --out.")

    def refuse(self, difference: str) -> None:
        """Refuse a request that differs from the one in the record."""
        raise RunError(
            f"{self.path}: there is a {self.kind} here already, with a different request ({difference}); repeat the "
            f"original request to resume it, replace it with --overwrite, or choose another folder with --out."
        )

    def clear(self) -> None:
        """Remove the files of the study and nothing else; the record last, so that it can be repeated."""
        for run in (self.path / "runs").glob("*"):
            if Run(run).exists:
                check_deletable(Run(run))
        for folder in self.folders:
            remove_folder(self.path / folder)
        for path in [*self.path.glob("*.png"), self.path / RESULTS, self.report, self.file]:
            path.unlink(missing_ok=True)


def listed(values: Sequence[Any]) -> str:
    """Return values separated by commas."""
    return ", ".join(map(str, values))

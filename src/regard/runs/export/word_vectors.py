"""Word vectors in the formats of other libraries."""

from dataclasses import dataclass
from pathlib import Path

from regard.errors import DataError
from regard.interop.word_vector_files import underscored, write_word_vectors
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import SILENT, Progress


@dataclass(frozen=True)
class ExportedVectors:
    """A file of word vectors."""

    path: Path
    form: str
    words: int
    width: int

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return vars(self)

    @property
    def summary(self) -> str:
        """These in one line."""
        return f"{self.path}: {self.words:,} words, {self.width} dimensions, format {self.form}."


def export_vectors(run: str, form: str, out: Path, progress: Progress = SILENT) -> ExportedVectors:
    """Write the word vectors of a run or a file in a format, and return what was written."""
    if out.exists():
        raise DataError(f"{out}: the file exists; name another with --out.")
    vectors = load_word_vectors(run, progress=progress)
    table = underscored(vectors.entries, progress)
    write_word_vectors(out, table, form)
    return ExportedVectors(out, form, len(table.words), vectors.width)

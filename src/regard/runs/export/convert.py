"""Conversion of a model, or of word vectors, to a format beside it."""

from dataclasses import dataclass
from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.interop.word_vector_files import ENDINGS, underscored, write_word_vectors
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import SILENT, Progress
from regard.registry import EXPORTERS
from regard.runs.export.exporters import Exported, write_export


@dataclass(frozen=True)
class ConvertedVectors:
    """A file of word vectors."""

    path: Path
    form: str
    words: int
    width: int

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return vars(self)

    @property
    def lines(self) -> list[str]:
        """A sentence on the file."""
        return [f"{self.path}: {self.words:,} words, {self.width} dimensions, format {self.form}."]


def convert(run: str, to: str, out: Path | None = None, progress: Progress = SILENT) -> "Exported | ConvertedVectors":
    """Write a run's best model, or word vectors, in another format: to `out`, by default next to the run or file."""
    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    if to in ENDINGS:
        return _convert_vectors(run, to, out or path.with_name(path.name + ENDINGS[to]), progress)
    if to not in EXPORTERS:
        raise ConfigError(f'--to: "{to}" is not one of {", ".join([*EXPORTERS.names(), *ENDINGS])}.')
    if path.is_file():
        raise ConfigError(
            f"{run}: a word vector file is converted to one of {', '.join(ENDINGS)}; choose one with --to."
        )
    return write_export(run, out or path.with_name(f"{path.name}-{to}"), to, progress)


def _convert_vectors(run: str, form: str, out: Path, progress: Progress) -> ConvertedVectors:
    if out.exists():
        raise DataError(f"{out}: the file exists; name another with --out.")
    vectors = load_word_vectors(run, progress=progress)
    table = underscored(vectors.entries, progress)
    write_word_vectors(out, table, form)
    return ConvertedVectors(out, form, len(table.words), vectors.width)

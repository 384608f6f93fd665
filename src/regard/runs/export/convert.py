"""Conversion of a model, or of word vectors, to a format beside it."""

from pathlib import Path

from regard.errors import ConfigError
from regard.interop.word_vector_files import ENDINGS
from regard.progress import SILENT, Progress
from regard.registry import EXPORTERS
from regard.runs.export.exporters import Exported, write_export
from regard.runs.export.word_vectors import ExportedVectors, export_vectors


def convert(run: str, to: str, out: Path | None = None, progress: Progress = SILENT) -> "Exported | ExportedVectors":
    """Write a run's best model, or word vectors, in another format: to `out`, by default next to the run or file."""
    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    if to in ENDINGS:
        return export_vectors(run, to, out or path.with_name(path.name + ENDINGS[to]), progress)
    if to not in EXPORTERS:
        raise ConfigError(f'--to: "{to}" is not one of {", ".join([*EXPORTERS.names(), *ENDINGS])}.')
    if path.is_file():
        raise ConfigError(
            f"{run}: a word vector file is converted to one of {', '.join(ENDINGS)}; choose one with --to."
        )
    return write_export(run, out or path.with_name(f"{path.name}-{to}"), to, progress)

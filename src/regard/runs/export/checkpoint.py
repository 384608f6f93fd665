"""The exporter to a checkpoint with all weights in one file, also of one that several processes wrote."""

from pathlib import Path

from regard.checkpoint.bundle import Bundle, write_bundle
from regard.errors import CheckpointError
from regard.progress import Progress
from regard.runs.export.exporters import Exported


class CheckpointExporter:
    """Writes checkpoints without training state."""

    summary = "a checkpoint of regard, all weights in one file"

    def write(self, bundle: Bundle, folder: Path, progress: Progress) -> Exported:
        """Write a model with its tokenizers."""
        if folder.exists():
            raise CheckpointError(f"{folder}: this exists; name another folder with --out.")
        write_bundle(folder, bundle)
        return Exported(folder, "checkpoint", bundle.settings.family, f'regard.load("{folder}")')


EXPORTER = CheckpointExporter()

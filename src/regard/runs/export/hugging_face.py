"""The exporter to Hugging Face folders."""

from pathlib import Path

from regard.checkpoint.bundle import Bundle
from regard.interop.huggingface.write import write
from regard.progress import Progress
from regard.runs.export.exporters import Exported


class HuggingFaceExporter:
    """Writes folders for `from_pretrained` of `transformers`."""

    summary = "Hugging Face transformers, in the matching architecture"

    def write(self, bundle: Bundle, folder: Path, progress: Progress) -> Exported:
        """Write a model with its tokenizers; one that no architecture there computes is refused."""
        form = write(bundle, folder, progress)
        use = f'transformers.{form.auto}.from_pretrained("{folder}")'
        return Exported(folder, form.name, form.architecture, use)


EXPORTER = HuggingFaceExporter()

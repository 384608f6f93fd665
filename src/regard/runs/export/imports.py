"""Models of other libraries turned into checkpoints."""

from dataclasses import dataclass
from pathlib import Path

from regard.checkpoint.bundle import write_bundle
from regard.errors import CheckpointError
from regard.interop.huggingface.read import read
from regard.tasks.contract import AnyTask, find_task


@dataclass(frozen=True)
class Imported:
    """A checkpoint made of another library's model."""

    path: Path
    parameters: int
    vocabularies: dict[str, object]

    def summary(self, task: AnyTask) -> str:
        """Return it in one line, its tokens in the words of its task."""
        return f"{self.path}: {self.parameters:,} parameters, {self.vocabularies['target']:,} {task.wording.tokens}."


def import_folder(folder: Path, out: Path) -> tuple[Imported, AnyTask, object]:
    """Write a Hugging Face folder as a checkpoint, and return it with its task and the operation to suggest."""
    if out.exists():
        raise CheckpointError(f"{out}: it exists already; name a folder that does not.")
    bundle = read(folder)
    write_bundle(out, bundle)
    task, parameters = find_task(bundle.task), sum(each.numel() for each in bundle.model.parameters())
    return Imported(out, parameters, vars(bundle.vocabularies)), task, task.suggested(bundle)

"""Where a model is kept, and what tells it from all others."""

import hashlib
import json
from pathlib import Path

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.records import MANIFEST, read_manifest
from regard.checkpoint.store import find_checkpoint
from regard.checkpoint.verification import TRAINING
from regard.errors import CheckpointError

HUGGING_FACE = "hf:"


def model_place(path: str | Path) -> str:
    """Return where the model of a run or a checkpoint is; hf: and a Hugging Face folder stay as they are."""
    return str(path) if str(path).startswith(HUGGING_FACE) else str(find_checkpoint(Path(path)))


def model_hash(place: str | Path) -> str:
    """Return one hash for the model of a checkpoint: of all the hashes in its manifest, training state left out.

    Another library's folder has no manifest: its files are hashed.
    """
    if str(place).startswith(HUGGING_FACE):
        folder = Path(str(place).removeprefix(HUGGING_FACE))
        files = {each.name: fingerprint(each)["sha256"] for each in sorted(folder.iterdir()) if each.is_file()}
    else:
        try:
            manifest = read_manifest(Path(place))
        except FileNotFoundError:
            raise CheckpointError(
                f"{Path(place) / MANIFEST}: missing, so the checkpoint is not whole; copy it again."
            ) from None
        files = {name: entry.sha256 for name, entry in manifest.items() if not name.startswith(TRAINING)}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()

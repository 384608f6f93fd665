"""Model identity: the location of a model's files and a hash of them."""

import hashlib
import json
from pathlib import Path

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.records import MANIFEST, read_manifest
from regard.checkpoint.store import find_checkpoint
from regard.checkpoint.verification import TRAINING
from regard.errors import CheckpointError

HUGGING_FACE = "hf:"


def checkpoint_path(path: str | Path) -> str:
    """Return the checkpoint folder of a run or checkpoint; hf:DIR stays as it is."""
    return str(path) if str(path).startswith(HUGGING_FACE) else str(find_checkpoint(Path(path)))


def model_hash(location: str | Path) -> str:
    """Return the SHA-256 of the hashes in a checkpoint's manifest, training state excluded.

    A Hugging Face folder has no manifest: its files are hashed.
    """
    if str(location).startswith(HUGGING_FACE):
        folder = Path(str(location).removeprefix(HUGGING_FACE))
        files = {each.name: fingerprint(each)["sha256"] for each in sorted(folder.iterdir()) if each.is_file()}
    else:
        try:
            manifest = read_manifest(Path(location))
        except FileNotFoundError:
            raise CheckpointError(
                f"{Path(location) / MANIFEST}: missing, so the checkpoint is incomplete; copy it again."
            ) from None
        files = {name: entry.sha256 for name, entry in manifest.items() if not name.startswith(TRAINING)}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()

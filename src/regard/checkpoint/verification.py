"""Whether a checkpoint is whole, all files of its manifest as they were written; and how folders are removed."""

import shutil
import stat
from pathlib import Path

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.records import CONFIG, FileRecord, read_manifest
from regard.errors import CheckpointError

WEIGHTS, TRAINING = "model.safetensors", "training"
STATE, TENSORS = f"{TRAINING}/state.json", f"{TRAINING}/optimizer.safetensors"


def check_whole(folder: Path, to_go_on: bool = False) -> None:
    """Refuse a checkpoint one of whose files is missing or not as it was written.

    Its training state may be gone whole, unless one wants to go on from it.
    """
    try:
        manifest = read_manifest(folder)
        has_training = to_go_on or (folder / TRAINING).exists()
        for name, expected in manifest.items():
            if has_training or not name.startswith(TRAINING):
                _check_file(folder / name, expected)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _not_whole(error.filename) from None
    except OSError as error:
        raise CheckpointError(f"{error.filename or folder}: it cannot be read ({error.strerror}).") from None
    for name in (CONFIG, WEIGHTS, *([STATE, TENSORS] if to_go_on else [])):
        if name not in manifest:
            raise _not_whole(folder / name)


def _not_whole(path: Path | str) -> CheckpointError:
    return CheckpointError(f"{path}: missing, so the checkpoint is not whole; copy it again.")


def _check_file(path: Path, expected: FileRecord) -> None:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # a device or a pipe may never end
        raise CheckpointError(f"{path}: damaged, this is not a plain file; copy it again or use another checkpoint.")
    if found.st_size != expected.bytes:
        raise CheckpointError(
            f"{path}: damaged, it has {found.st_size:,} bytes of {expected.bytes:,}; copy it again or use "
            f"another checkpoint."
        )
    if fingerprint(path)["sha256"] != expected.sha256:
        raise CheckpointError(f"{path}: damaged, its contents changed since it was written; copy it again.")


def remove_folder(folder: Path) -> None:
    """Remove a folder with all it holds; a link to one, here or inside, is removed itself and never followed."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)

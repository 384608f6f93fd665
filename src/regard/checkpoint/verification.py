"""Integrity checks: the files of a checkpoint against the sizes and hashes in its manifest; removal of folders."""

import shutil
import stat
from pathlib import Path

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.records import CONFIG, FileRecord, read_manifest
from regard.errors import CheckpointError

WEIGHTS, TRAINING = "model.safetensors", "training"
STATE, TENSORS = f"{TRAINING}/state.json", f"{TRAINING}/optimizer.safetensors"


def check_intact(folder: Path, with_training: bool = False) -> None:
    """Refuse a checkpoint with a missing or changed file.

    The training state as a whole may be absent, unless `with_training`.
    """
    try:
        manifest = read_manifest(folder)
        has_training = with_training or (folder / TRAINING).exists()
        for name, expected in manifest.items():
            if has_training or not name.startswith(TRAINING):
                _check_file(folder / name, expected)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(error.filename) from None
    except OSError as error:
        raise CheckpointError(f"{error.filename or folder}: it cannot be read ({error.strerror}).") from None
    for name in (CONFIG, WEIGHTS, *([STATE, TENSORS] if with_training else [])):
        if name not in manifest and not any(each.startswith(f"{sharded(name)}/") for each in manifest):
            raise _missing(folder / name)


def sharded(name: str) -> str:
    """Return the folder that stands in for a file of tensors where several processes wrote their parts."""
    return name.removesuffix(".safetensors")


def tensors_path(folder: Path, name: str) -> Path:
    """Return the file of tensors of that name, or the folder of their parts."""
    parts = folder / sharded(name)
    return parts if parts.is_dir() else folder / name


def _missing(path: Path | str) -> CheckpointError:
    return CheckpointError(f"{path}: missing, so the checkpoint is incomplete; copy it again.")


def _check_file(path: Path, expected: FileRecord) -> None:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # reading a device or a pipe may never end
        raise CheckpointError(f"{path}: damaged, this is not a plain file; copy it again or use another checkpoint.")
    if status.st_size != expected.bytes:
        raise CheckpointError(
            f"{path}: damaged, it has {status.st_size:,} bytes of {expected.bytes:,}; copy it again or use "
            f"another checkpoint."
        )
    if fingerprint(path)["sha256"] != expected.sha256:
        raise CheckpointError(f"{path}: damaged, its contents changed since it was written; copy it again.")


def remove_folder(folder: Path) -> None:
    """Remove a folder and its contents; symbolic links are removed, never followed."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)

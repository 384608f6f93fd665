"""Files and folders that are whole or absent, whatever happens while they are written."""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from regard.checkpoint.records import MANIFEST

LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}")


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file in one step."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Replace a text file in one step."""
    aside = _aside(path)
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        error.filename = str(path)  # a failed write names no file, and the one aside is nothing to a user
        raise
    finally:
        aside.unlink(missing_ok=True)
    _sync(path.parent)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a folder aside, add a manifest of hashes, and move it into place in one step."""
    aside = _aside(folder)
    absent = [parent for parent in folder.parents if not parent.exists()]
    try:
        aside.mkdir(parents=True)
        write(aside)
        files = sorted(path for path in aside.rglob("*") if path.is_file())
        write_json(aside / MANIFEST, {str(path.relative_to(aside)): fingerprint(path) for path in files})
        for path in [*files, *(inner for inner in aside.rglob("*") if inner.is_dir()), aside]:
            _sync(path)
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        for parent in absent:
            with suppress(OSError):  # never made, or meanwhile in use
                parent.rmdir()
        raise
    _sync(folder.parent)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")


def is_leftover(path: Path, of: str = "") -> bool:
    """Tell whether a name is one used while writing (that file) aside; nobody else writes when this is asked."""
    return LEFTOVER.fullmatch(path.name) is not None and path.name.startswith(f".{of}")


def fingerprint(path: Path) -> dict[str, Any]:
    """Return the size and the SHA-256 of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _sync(path: Path) -> None:
    """Make sure a file's contents, or a folder's list of names, have reached the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows has no handle for this
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Atomic writes: a file or folder is written under a temporary name, synced, and renamed into position."""

import gzip
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from regard.checkpoint.records import MANIFEST

LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}")


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file atomically."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Replace a text file atomically."""
    write_chunks(path, [text.encode("utf-8")])


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace a file atomically by these bytes; with the suffix .gz they are compressed, always in the same way."""
    temporary = _temporary_path(path)
    try:
        with temporary.open("wb") as file:
            is_packed = path.suffix == ".gz"
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_packed else nullcontext(file)
            with packed as target:
                for chunk in chunks:
                    target.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        error.filename = str(path)  # a failed write names no file, or the temporary one
        raise
    finally:
        temporary.unlink(missing_ok=True)
    _sync(path.parent)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Create a folder atomically: `write` fills a temporary one, which gets a manifest of hashes and is renamed."""
    temporary = _temporary_path(folder)
    absent = [parent for parent in folder.parents if not parent.exists()]
    try:
        temporary.mkdir(parents=True)
        write(temporary)
        files = sorted(path for path in temporary.rglob("*") if path.is_file())
        write_json(temporary / MANIFEST, {str(path.relative_to(temporary)): fingerprint(path) for path in files})
        for path in [*files, *(inner for inner in temporary.rglob("*") if inner.is_dir()), temporary]:
            _sync(path)
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        for parent in absent:
            with suppress(OSError):  # never created, or in use by now
                parent.rmdir()
        raise
    _sync(folder.parent)


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")


def is_leftover(path: Path, of: str = "") -> bool:
    """Return whether a name is a temporary one (`of` that file); assumes that no write is in progress."""
    return LEFTOVER.fullmatch(path.name) is not None and path.name.startswith(f".{of}")


def fingerprint(path: Path) -> dict[str, Any]:
    """Return the size and the SHA-256 of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _sync(path: Path) -> None:
    """Flush a file's contents, or a folder's entries, to the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Validation of file names read from files: none may point outside its folder (path traversal)."""

from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator

from regard.errors import RegardError


def check_name(name: str) -> str:
    """Return the name of a folder's entry; raise ValueError if it is a path or not a valid name."""
    if "/" in name or check_relative(name) != name:
        raise ValueError(f"{_shown(name)} is not the name of a file in this folder")
    return name


def check_relative(name: str) -> str:
    """Return a relative path; raise ValueError if it could leave its folder on any operating system."""
    parts = PurePosixPath(name).parts
    is_outside = not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]
    if (
        is_outside
        or any(ord(character) < 32 for character in name)
        or max(len(part.encode()) for part in parts) > 255
    ):
        raise ValueError(f"{_shown(name)} leads out of its folder, or is not a file name")
    return name


def inside(folder: Path, name: object, origin: Path | str, error: type[RegardError]) -> Path:
    """Return the path below a folder that a file (`origin`) names; names that point elsewhere are refused."""
    try:
        return folder / check_relative(str(name))
    except (ValueError, UnicodeEncodeError) as reason:
        raise error(f"{origin}: {reason}; no file outside of {folder} is touched.") from None


def _shown(name: str) -> str:
    return f'"{name[:60].encode("unicode_escape").decode()}"'


FileName = Annotated[str, AfterValidator(check_name)]
"""The name of a folder's entry, in a record."""
RelativePath = Annotated[str, AfterValidator(check_relative)]
"""A path below a folder, in a record."""

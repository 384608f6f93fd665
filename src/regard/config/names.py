"""Names of files that stand in a file: none may lead out of the folder it is meant for."""

from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator

from regard.errors import RegardError


def check_name(name: str) -> str:
    """Return the name of an entry of a folder; raise ValueError if it is a path, or no name at all."""
    if "/" in name or check_relative(name) != name:
        raise ValueError(f"{_shown(name)} is not the name of a file in this folder")
    return name


def check_relative(name: str) -> str:
    """Return a path below a folder; raise ValueError if it could lead out of it, on any system."""
    parts = PurePosixPath(name).parts
    leaves = not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]
    if leaves or any(ord(character) < 32 for character in name) or max(len(part.encode()) for part in parts) > 255:
        raise ValueError(f"{_shown(name)} leads out of its folder, or is no name of a file")
    return name


def inside(folder: Path, name: object, origin: Path | str, error: type[RegardError]) -> Path:
    """Return the path below a folder that a file (`origin`) names; a name that leads elsewhere is refused."""
    try:
        return folder / check_relative(str(name))
    except (ValueError, UnicodeEncodeError) as reason:
        raise error(f"{origin}: {reason}; no file outside of {folder} is touched.") from None


def _shown(name: str) -> str:
    return f'"{name[:60].encode("unicode_escape").decode()}"'


FileName = Annotated[str, AfterValidator(check_name)]
"""The name of an entry of a folder, in a record."""
RelativePath = Annotated[str, AfterValidator(check_relative)]
"""A path below a folder, in a record."""

"""Several checkpoints into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.checkpoint.averaging import Which, average_checkpoints, kept_checkpoints
from regard.checkpoint.bundle import write_bundle
from regard.checkpoint.store import find_checkpoint
from regard.errors import ConfigError, RunError


@dataclass(frozen=True)
class Average:
    """A checkpoint that is the mean of others."""

    path: Path
    checkpoints: tuple[Path, ...]


def average(
    paths: Sequence[str | Path], out: str | Path | None = None, count: int | None = None, which: Which = "last"
) -> Average:
    """Write the mean of a run's kept checkpoints, or of several runs' or folders' best ones, to a new folder.

    `out` unset: a folder `averaged` inside the run.
    """
    places = [Path(path) for path in paths]
    if len(places) == 1:
        folders = kept_checkpoints(find_run(places[0]), count, which)
        target = places[0] / "averaged" if out is None else Path(out)
    elif out is None:
        raise ConfigError("Say with --out where the mean of several checkpoints goes.")
    else:
        if count is not None:
            raise ConfigError(f"--count {count} is for the checkpoints of one run; here each is named.")
        folders, target = [find_checkpoint(place) for place in places], Path(out)
    if target.exists():
        raise RunError(f"{target}: this exists already; remove it, or choose another folder with --out.")
    write_bundle(target, average_checkpoints(folders))
    return Average(target, tuple(folders))


def find_run(path: Path) -> Path:
    """Return the path after making sure that it is a run with checkpoints."""
    find_checkpoint(path)
    if not (path / "checkpoints").is_dir():
        raise RunError(f"{path}: this is a single checkpoint, so there is nothing to average; name its run.")
    return path

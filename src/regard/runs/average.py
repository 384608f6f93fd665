"""Checkpoint averaging: the mean of several checkpoints' weights as a new one."""

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

    `out` is a new folder (default: `averaged` inside the run).
    """
    sources = [Path(path) for path in paths]
    if len(sources) == 1:
        folders = kept_checkpoints(find_run(sources[0]), count, which)
        target = sources[0] / "averaged" if out is None else Path(out)
    elif out is None:
        raise ConfigError("--out: several checkpoints are averaged; name the new folder with it.")
    else:
        if count is not None:
            raise ConfigError(f"--count {count} is for the checkpoints of one run; here each is named.")
        folders, target = [find_checkpoint(source) for source in sources], Path(out)
    if target.exists():
        raise RunError(f"{target}: this exists already; remove it, or choose another folder with --out.")
    write_bundle(target, average_checkpoints(folders))
    return Average(target, tuple(folders))


def find_run(path: Path) -> Path:
    """Return the path of a run with checkpoints; anything else is refused."""
    find_checkpoint(path)
    if not (path / "checkpoints").is_dir():
        raise RunError(f"{path}: this is a single checkpoint, so there is nothing to average; name its run.")
    return path

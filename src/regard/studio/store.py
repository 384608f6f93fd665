"""The store of the studio's models: every run below one folder, by its path there."""

from pathlib import Path

from regard.errors import RunError
from regard.runs.run import Run
from regard.server.errors import UnknownModel
from regard.server.store import ModelStore
from regard.studio.settings import StudioSettings


def run_path(folder: Path, name: str) -> Path:
    """Return the path of a run by its path below the folder of runs; what leads out of it is refused."""
    path = folder / name.replace("\x00", "")
    is_inside = path.resolve().is_relative_to(folder.resolve()) and path.resolve() != folder.resolve()
    if not name or "\x00" in name or not is_inside:
        raise RunError(f'"{name}": this is not below {folder}; name one of its runs.')
    return path


class RunStore(ModelStore):
    """Models by the paths of their runs below a folder, which may appear while the studio runs."""

    def __init__(self, settings: StudioSettings) -> None:
        super().__init__(settings, [])
        self.folder = settings.runs

    def path(self, name: str) -> str:
        """Return the path of a run with a checkpoint; another name is refused."""
        try:
            path = run_path(self.folder, name)
            has_model = Run(path).exists and Run(path).has_checkpoint
        except (RunError, ValueError, OSError):
            has_model = False
        if not has_model:
            raise UnknownModel(
                f'There is no run "{name}" with a checkpoint below {self.folder}; choose another.', "model"
            )
        self.paths[name] = str(path)
        return str(path)

"""What a run leaves behind while it goes: metrics.jsonl, and TensorBoard's curves where that is installed."""

import json
from pathlib import Path

from regard.checkpoint import write_text


class MetricsLog:
    """Appends one JSON object a line; a resumed run forgets the lines past the step it resumes from."""

    def __init__(self, folder: Path, step: int, with_tensorboard: bool, is_silent: bool = False) -> None:
        self.path = folder / "metrics.jsonl"
        self.is_silent = is_silent
        if is_silent:
            return
        self.forget(step)
        self._board = _tensorboard(folder, step) if with_tensorboard else None

    def forget(self, step: int) -> None:
        """Drop the lines past a step."""
        if self.is_silent:
            return
        kept = [line for line in self._whole_lines() if json.loads(line)["step"] <= step]
        write_text(self.path, "".join(line + "\n" for line in kept))

    def _whole_lines(self) -> list[str]:
        if not self.path.exists():
            return []
        return self.path.read_text(encoding="utf-8").split("\n")[:-1]  # a line cut short by a kill has no end

    def write(self, record: dict[str, float]) -> None:
        """Add one line."""
        if self.is_silent:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self._board is not None:
            for name, value in record.items():
                self._board.add_scalar(name, value, int(record["step"]))

    def __enter__(self) -> "MetricsLog":
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_silent and self._board is not None:
            self._board.close()


def _tensorboard(folder: Path, step: int):  # type: ignore[no-untyped-def]
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

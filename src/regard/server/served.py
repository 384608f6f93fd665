"""A served model: its pipeline, and the one thread on which all work on it happens."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from regard.server.settings import ServerSettings
from regard.tasks.contract import AnyTask, find_task

if TYPE_CHECKING:
    from regard.pipelines.base import Pipeline

P = ParamSpec("P")
T = TypeVar("T")


class ServedModel:
    """A loaded model with its scheduler."""

    def __init__(
        self, name: str, path: str, pipeline: "Pipeline[Any, Any, Any]", settings: ServerSettings | None = None
    ) -> None:
        self.name, self.path, self.pipeline = name, path, pipeline
        self.settings = settings or ServerSettings()
        self._thread = ThreadPoolExecutor(1, f"model-{name}")

    @classmethod
    async def load(cls, name: str, path: str, settings: ServerSettings) -> "ServedModel":
        """Return the model at a path, loaded in a thread."""
        return cls(name, path, await asyncio.to_thread(_pipeline, path, settings), settings)

    @property
    def task(self) -> AnyTask:
        """Its task."""
        return find_task(self.pipeline.task)

    @property
    def is_idle(self) -> bool:
        """True where nothing waits or runs."""
        return True

    async def run(self, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Return what a function returns, called in the model's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **named))

    def retire(self) -> None:
        """Let the thread end once nothing is left to do; whoever still holds the model may use it all the same."""
        self._thread.shutdown(wait=False)


def _pipeline(path: str, settings: ServerSettings) -> "Pipeline[Any, Any, Any]":
    from regard.tasks.load import load, read_task
    from regard.training.device.machine import use_threads

    use_threads(settings.threads)
    task = find_task(read_task(path))
    quantize = settings.quantize if "quantize" in task.loads else "none"
    pipeline: Pipeline[Any, Any, Any] = load(path, settings.device, precision=settings.precision, quantize=quantize)
    return pipeline

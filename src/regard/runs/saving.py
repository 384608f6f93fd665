"""The checkpoints of a run: copied to host memory between two updates, and written while training continues."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from regard.checkpoint.background import BackgroundWriter
from regard.checkpoint.bundle import Bundle, TrainingState, unwritten, weights_of
from regard.checkpoint.store import RetentionPolicy
from regard.checkpoint.verification import TRAINING, WEIGHTS, sharded
from regard.runs.store.folder import RunFolder
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import host_parts, is_sharded
from regard.training.settings import LoopSettings
from regard.training.state import LoopState

if TYPE_CHECKING:
    from regard.checkpoint.shards import ShardWriter

Weights = dict[str, Tensor] | Path
Store = Callable[[Weights], object]


class Saver:
    """Saves the checkpoints of a run: by its main process, or by all that hold parts of the model."""

    def __init__(self, run: RunFolder, bundle: Bundle, settings: LoopSettings, team: ProcessGroup) -> None:
        self.store, self.bundle, self.team = run.checkpoints, bundle, team
        self.is_async = settings.async_save
        self.keeping = RetentionPolicy(settings.keep_last, settings.keep_best)
        self.writer = BackgroundWriter()
        self._parts: ShardWriter | None = None

    def save(self, state: LoopState, training: TrainingState, value: float | None) -> None:
        """Save a checkpoint with its validation value; a collective call of all processes."""
        model = self.bundle.model
        bundle = replace(self.bundle, facts=dict(self.bundle.facts))  # validation may fit some of them anew
        store = partial(self._store, state.step, bundle, training, value)
        if is_sharded(model):
            self._run(partial(self._write_parts, self._shard_writer(), host_parts(model), training, store))
        elif self.team.is_main:
            self._run(partial(store, weights_of(model, copies=self.is_async)))

    def drop_older(self) -> None:
        """Delete every checkpoint but the newest."""
        self.writer.wait()
        if self.team.is_main:
            self.store.drop_older()

    def _shard_writer(self) -> "ShardWriter":
        if self._parts is None:
            from regard.checkpoint.shards import ShardWriter  # torch.distributed.checkpoint takes a second to load

            self._parts = ShardWriter(self.team.failures.timeout if self.team.failures else None)
        return self._parts

    def _run(self, write: Callable[[], object]) -> None:
        if self.is_async:
            self.writer.start(write)
        else:
            write()

    def _store(
        self, step: int, bundle: Bundle, training: TrainingState, value: float | None, weights: Weights
    ) -> None:
        self.store.save(step, bundle, training, value, self.keeping, weights)

    def _write_parts(
        self, parts: "ShardWriter", weights: dict[str, Tensor], training: TrainingState, store: Store
    ) -> None:
        """Write the parts that this process holds; once all have, the main process makes a checkpoint of them."""
        folder = self.store.parts_folder
        try:
            if self.team.is_main:
                self.store.clear_parts()
            parts.wait()
            parts.write(folder / sharded(WEIGHTS), weights)
            parts.write(folder / TRAINING, training.tensors)
        except OSError as error:
            raise unwritten(folder, error) from None
        parts.wait()
        if self.team.is_main:
            store(folder)
        parts.wait()

"""The checkpoints of a run: copied to host memory between two updates, and written while training continues."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch.distributed as dist
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

Weights = dict[str, Tensor] | Path
Store = Callable[[Weights], object]


class Saver:
    """Saves the checkpoints of a run: by its main process, or by all that hold parts of the model."""

    def __init__(self, run: RunFolder, bundle: Bundle, settings: LoopSettings, team: ProcessGroup) -> None:
        self.store, self.bundle, self.team = run.checkpoints, bundle, team
        self.is_async = settings.async_save
        self.keeping = RetentionPolicy(settings.keep_last, settings.keep_best)
        self.writer = BackgroundWriter()
        self._group: dist.ProcessGroup | None = None

    def save(self, state: LoopState, training: TrainingState, value: float | None) -> None:
        """Save a checkpoint with its validation value; a collective call of all processes."""
        model = self.bundle.model
        bundle = replace(self.bundle, facts=dict(self.bundle.facts))  # validation may fit some of them anew
        store = partial(self._store, state.step, bundle, training, value)
        if is_sharded(model):
            if self._group is None:  # exchanges of the thread are not to mix with those of training
                timeout = self.team.failures.timeout if self.team.failures else None
                self._group = dist.new_group(backend="gloo", timeout=timeout)
            self._run(partial(self._write_parts, host_parts(model), training, self._group, store))
        elif self.team.is_main:
            self._run(partial(store, weights_of(model, copies=self.is_async)))

    def drop_older(self) -> None:
        """Delete every checkpoint but the newest."""
        self.writer.wait()
        if self.team.is_main:
            self.store.drop_older()

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
        self, weights: dict[str, Tensor], training: TrainingState, group: dist.ProcessGroup, store: Store
    ) -> None:
        """Write the parts that this process holds; once all have, the main process makes a checkpoint of them."""
        from regard.checkpoint.shards import write_shards  # torch.distributed.checkpoint takes a second to load

        folder = self.store.parts_folder
        try:
            if self.team.is_main:
                self.store.clear_parts()
            dist.barrier(group)
            write_shards(folder / sharded(WEIGHTS), weights, group)
            write_shards(folder / TRAINING, training.tensors, group)
        except OSError as error:
            raise unwritten(folder, error) from None
        dist.barrier(group)
        if self.team.is_main:
            store(folder)
        dist.barrier(group)

"""Checkpoints written in the background: what is saved is copied to host memory, so training need not wait."""

from collections.abc import Callable, Mapping
from threading import Thread

import torch
from torch import Tensor


def host_copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return copies in host memory; those from a GPU are in pinned memory, where a copy is several times as fast."""
    copies = dict[str, Tensor]()
    for name, tensor in tensors.items():
        copies[name] = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
        copies[name].copy_(tensor.detach(), non_blocking=True)
    if any(tensor.is_cuda for tensor in tensors.values()):
        torch.cuda.synchronize()
    return copies


class BackgroundWriter:
    """Runs writes in a thread, one at a time in the order given; the error of one is raised where it is asked for."""

    def __init__(self) -> None:
        self._thread: Thread | None = None
        self._error: BaseException | None = None

    def start(self, write: Callable[[], object]) -> None:
        """Run a write, as soon as the one before has ended."""
        self.wait()
        self._thread = Thread(target=self._run, args=(write,), name="checkpoint")
        self._thread.start()

    def check(self) -> None:
        """Raise the error of a write that has failed, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def wait(self) -> None:
        """Wait until nothing is being written; raise the error of a write that has failed, once."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.check()

    def _run(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BaseException as error:
            self._error = error

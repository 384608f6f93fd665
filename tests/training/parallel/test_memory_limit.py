"""A model whose optimizer state does not fit one process is trained by four that shard it."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from parallel_scenes import CPU, together
from regard.data.feeds.windows import IdStream, WindowFeed
from regard.errors import RunError
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.language_model import LanguageObjective
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.settings import TrainSettings

ROOM = 1.5
"""Memory beyond the built model, in sizes of its weights; Adam, gradients and what a rollback keeps take 4."""


def allocated() -> int:
    """Return the bytes of data that this process holds, of which its limit counts all."""
    return int(re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def limited(team, out):
    """Train under a limit on memory that is set once the model is built; one process alone exceeds it."""
    import resource

    model = build_model(GptSettings(width=512, layers=8, heads=4, max_positions=32), Vocabularies(500, 500, True))
    feed = WindowFeed(IdStream(np.arange(2000) % 490 + 4), 16, 64, 64, 3)
    settings = TrainSettings(steps=3, tokens_per_update=64, warmup=1, validate_every=3, distributed="shard")
    hooks = Hooks(lambda model: {"loss": 1.0}, lambda *_: None)
    room = int(ROOM * sum(each.nbytes for each in model.parameters()))
    resource.setrlimit(resource.RLIMIT_DATA, (allocated() + room, resource.getrlimit(resource.RLIMIT_DATA)[1]))

    def train():
        trainer = Trainer(model, feed, LanguageObjective(), settings, CPU, hooks, seed=3, width=16, team=team)
        trainer.run()
        return trainer.state.step

    if team.size > 1:
        assert train() == 3
        return
    with pytest.raises((RuntimeError, MemoryError, RunError)) as error:
        train()
    assert is_out_of_memory(error.value) or "out of memory" in str(error.value), error.value


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 4])
def test_four_processes_train_what_does_not_fit_one(count, tmp_path):
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is limited and measured in this way on Linux alone")
    torch.manual_seed(0)
    together(count, "test_memory_limit:limited", tmp_path)

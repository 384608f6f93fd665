"""What several tests need: small models, small batches, and one run trained for a few seconds."""

import fcntl
import os
from pathlib import Path

# Before torch loads, and for the processes that tests start: spinning threads starve each other, and several workers
# with a thread a core would too.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from commands import good
from every_task import TASKS
from regard import miniature
from regard.runs.store.folder import Run
from regard.runs.train import train

QUICK = {
    "data.train.max_rows": 1500,
    "data.valid.max_rows": 50,
    "data.test.test.max_rows": 30,
    **{f"data.test.unseen-{part}.count": 5 for part in ("pairs", "cases", "depth")},
    "text.size": 700,
    "model.width": 64,
    "model.feed_forward_width": 128,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "train.steps": 60,
    "train.warmup": 20,
    "train.validate_every": 30,
    "validation.bleu_sentences": 10,
}
"""What makes a run of a translator quick."""


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory) -> Run:
    """A translator that has learned a little, with everything a real run has."""
    return train("translate-miniature", QUICK, out=tmp_path_factory.mktemp("runs") / "quick")


@pytest.fixture(scope="session")
def masked_run(tmp_path_factory) -> Run:
    """The same, by a model that fills in masked words."""
    return train("mask-predict-miniature", QUICK, out=tmp_path_factory.mktemp("runs") / "masked")


@pytest.fixture(scope="session")
def pairs():
    return miniature.pairs("train", 300)


@pytest.fixture(scope="session")
def tiny_runs(tmp_path_factory) -> Path:
    """The folder with a run of each task, by its name, and `NAME-data` with what it was trained on.

    They are trained once for all processes that share the tests.
    """
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "every-task"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, task in TASKS.items():
            if not (folder / f"{name}.done").exists():
                good("train", *task.words(folder / f"{name}-data"), "--out", folder / name, "--quiet")
                (folder / f"{name}.done").touch()
    return folder

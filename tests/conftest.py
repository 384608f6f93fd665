"""What several tests need: small models, small batches, and one run trained for a few seconds."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

# Before torch loads, and for the processes that tests start: spinning threads starve each other, and several workers
# with a thread a core would too.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from commands import good
from every_task import TASKS
from regard import miniature
from regard.runs import execute
from regard.runs.run import Run
from regard.runs.train import train

QUICK = {
    "data.train.max_rows": 1500,
    "data.valid.max_rows": 50,
    "data.test.test.max_rows": 30,
    **{f"data.test.unseen-{part}.max_rows": 5 for part in ("pairs", "cases", "depth")},
    "text.size": 700,
    "text.dropout": 0.0,
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


@pytest.fixture(autouse=True, scope="session")
def undrawn() -> Iterator[None]:
    """The plots of cards that end a training are left empty: drawing them takes most of a tiny run."""
    leave_card = execute.leave_card

    def leave_card_without_plots(*words):
        with mock.patch("matplotlib.figure.Figure.savefig", lambda _, path, **options: Path(path).touch()):
            return leave_card(*words)

    with mock.patch.object(execute, "leave_card", leave_card_without_plots):
        yield


@pytest.fixture(scope="session")
def made_once(tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """A function that gives the folder of a name, made once for all processes that share the tests: only read it."""
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "made-once"
    shared.mkdir(exist_ok=True)

    def folder_of(name: str, make: Callable[[Path], object]) -> Path:
        done = shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                make(shared / name)
                done.touch()
        return shared / name

    return folder_of


def _own_copy(made: Path, tmp_path_factory) -> Run:
    """A copy for this process, since tests score a run and look at it, which writes into it."""
    return Run(Path(shutil.copytree(made, tmp_path_factory.mktemp("runs") / made.name)))


@pytest.fixture(scope="session")
def quick_run(made_once, tmp_path_factory) -> Run:
    """A translator that has learned a little, with everything a real run has."""
    made = made_once("quick", lambda folder: train("translate-miniature", QUICK, out=folder))
    return _own_copy(made, tmp_path_factory)


@pytest.fixture(scope="session")
def masked_run(made_once, tmp_path_factory) -> Run:
    """The same, by a model that fills in masked words."""
    made = made_once("masked", lambda folder: train("mask-predict-miniature", QUICK, out=folder))
    return _own_copy(made, tmp_path_factory)


@pytest.fixture(scope="session")
def pairs():
    return miniature.pairs("train", 300)


@pytest.fixture(scope="session")
def tiny_runs(made_once) -> Path:
    """The folder with a run of each task, by its name, and `NAME-data` with what it was trained on."""

    def make(folder: Path) -> None:
        for name, task in TASKS.items():
            good("train", *task.words(folder / f"{name}-data"), "--out", folder / name, "--quiet")

    return made_once("every-task", make)

"""What saving costs a training: none, written between two updates, and written in the background.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/async_save.py --width 512 --layers 6 --save-every 4 --updates 12

A GPT trains on random tokens with Adam. Each side is a training of the same updates, the sides alternate, and the
time of each ends when its last checkpoint is on the disk. Prints a line of JSON: milliseconds an update of each side
(median over rounds, lowest and highest), and the share of the time of saving that the background hides.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.data.feeds.windows import IdStream, WindowFeed
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.objectives.language_model import LanguageObjective
from regard.runs.saving import Saver
from regard.runs.store.folder import RunFolder
from regard.training.device.machine import Machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.parallel.process_group import ProcessGroup
from regard.training.settings import TrainSettings

SIDES = {"none": None, "between": False, "background": True}
"""Whether a side saves in the background; None: not at all."""
VOCABULARY, LENGTH = 8000, 128


def seconds(side: str, given: argparse.Namespace) -> float:
    """Return the seconds of a training, its last checkpoint written."""
    is_async = SIDES[side]
    torch.manual_seed(0)
    settings = GptSettings(width=given.width, layers=given.layers, heads=8, max_positions=LENGTH)
    vocabularies = Vocabularies(VOCABULARY, VOCABULARY, True)
    bundle = Bundle("language-model", build_model(settings, vocabularies), settings, vocabularies, {})
    train = TrainSettings(
        steps=given.updates,
        tokens_per_update=given.tokens,
        warmup=2,
        validate_every=10**6,
        save_every=given.save_every if is_async is not None else 0,
        async_save=bool(is_async),
    )
    stream = IdStream(np.random.default_rng(0).integers(4, VOCABULARY, LENGTH * 400))
    feed = WindowFeed(stream, LENGTH, given.tokens, given.tokens, seed=1)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        saver = Saver(RunFolder(Path(folder)), bundle, train, ProcessGroup())
        save = (lambda *_: None) if is_async is None else saver.save
        hooks = Hooks(lambda model: {"loss": 1.0}, save, writer=saver.writer)
        machine = Machine(torch.device("cpu"), "fp32")
        trainer = Trainer(
            bundle.model, feed, LanguageObjective(0.0), train, machine, hooks, seed=1, width=given.width
        )
        began = time.perf_counter()
        trainer.run()
        return time.perf_counter() - began


def main() -> None:
    """Measure all sides in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (
        ("width", 512),
        ("layers", 6),
        ("tokens", 512),
        ("updates", 12),
        ("rounds", 3),
        ("threads", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--save-every", type=int, default=4)
    parser.add_argument("--folder", help="where the checkpoints are written (default: the folder of temporary files)")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    taken: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(given.rounds):
        for side in SIDES:
            taken[side].append(seconds(side, given) / given.updates * 1000)
    middle = {side: statistics.median(values) for side, values in taken.items()}
    saved = (middle["between"] - middle["background"]) / (middle["between"] - middle["none"])
    rows = {
        side: [round(each) for each in (middle[side], min(values), max(values))] for side, values in taken.items()
    }
    sys.stdout.write(json.dumps({"milliseconds": rows, "hidden": round(saved, 2)}) + "\n")


if __name__ == "__main__":
    main()

"""What reductions over a slow link cost: after the backward pass in one flat tensor, or bucket by bucket during it.

    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python benchmarks/overlap.py --rounds 9 --trace trace.json

Two processes of this machine train a GPT; the link between them is simulated: a thread reduces one tensor after the
other by gloo, and holds each back until bytes / bandwidth have passed. The bandwidth is chosen so that the flat
reduction doubles the time of an update without any. The three sides alternate, an update each. Prints a line of JSON:
milliseconds an update (median over rounds, lowest, highest), what both sides lose to the one without reductions, the
ratio of these losses, and the part of the time of reductions in which gradients are computed (torch's profiler).
"""

import argparse
import json
import os
import queue
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor
from torch.profiler import ProfilerActivity, profile, record_function

from regard.data.feeds.sampler import Position
from regard.data.feeds.windows import IdStream, WindowFeed
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.objectives.language_model import LanguageObjective
from regard.training.parallel import replicate as replication

VOCABULARY, LENGTH = 2000, 128
SIDES = ("none", "flat", "replicate")


class Link:
    """A connection of limited bandwidth, which reductions pass one after the other in the order given."""

    def __init__(self) -> None:
        self.seconds_per_byte = 0.0
        self._queue: queue.Queue[tuple[Tensor, torch.futures.Future[Tensor]]] = queue.Queue()
        self._group = dist.new_group()  # DDP has a message of its own, about parameters without a gradient
        threading.Thread(target=self._work, daemon=True).start()

    def reduce(self, tensor: Tensor) -> "torch.futures.Future[Tensor]":
        """Sum a tensor over the processes, in place."""
        future: torch.futures.Future[Tensor] = torch.futures.Future()
        with record_function("ready"):
            pass
        self._queue.put((tensor, future))
        return future

    def _work(self) -> None:
        while True:
            tensor, future = self._queue.get()
            with record_function("reduction"):
                until = time.perf_counter() + tensor.nbytes * self.seconds_per_byte
                dist.all_reduce(tensor, group=self._group)
                time.sleep(max(0.0, until - time.perf_counter()))
            future.set_result(tensor)


class Sides:
    """One model and its updates, with gradients that are not reduced, reduced flat, or bucket by bucket."""

    def __init__(self, given: argparse.Namespace) -> None:
        torch.manual_seed(0)
        settings = GptSettings(width=given.width, layers=given.layers, heads=4, max_positions=LENGTH, dropout=0.0)
        self.model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
        stream = IdStream(torch.randint(4, VOCABULARY, (given.tokens * 4,)).numpy())
        feed = WindowFeed(stream, LENGTH, given.tokens, given.tokens, seed=1)
        (self.batch,) = next(feed.updates(Position())).micro_batches
        self.counts = LanguageObjective().counts(self.batch)
        self.link = Link()
        replication._add = lambda _, bucket: self.link.reduce(bucket.buffer())
        self.module = replication.LossModule(self.model, LanguageObjective())
        self.ddp = replication.replicate(self.module)
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)

    def update(self, side: str) -> float:
        """Take an update and return its seconds."""
        dist.barrier()
        began = time.perf_counter()
        self.model.zero_grad(set_to_none=True)
        total, _ = (self.ddp if side == "replicate" else self.module)(self.batch, self.counts)
        total.backward()
        if side == "flat":
            gradients = [each.grad for each in self.model.parameters() if each.grad is not None]
            flat = torch.cat([each.reshape(-1) for each in gradients])
            self.link.reduce(flat).wait()
            parts = flat.split([each.numel() for each in gradients])
            for gradient, part in zip(gradients, parts, strict=True):
                gradient.copy_(part.view_as(gradient))
        self.optimizer.step()
        return time.perf_counter() - began

    @property
    def bytes(self) -> int:
        """The bytes of all gradients."""
        return sum(each.nbytes for each in self.model.parameters())


def overlap(sides: Sides, trace: Path | None) -> tuple[int, float]:
    """Return the number of reductions of an update, and the part of their time while gradients are computed."""
    every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread) as profiler:
        sides.update("replicate")
    if trace is not None:
        profiler.export_chrome_trace(str(trace))
    spans: dict[str, list[tuple[float, float]]] = {"ready": [], "reduction": []}
    for event in profiler.events() or ():
        if event.name in spans:
            spans[event.name].append((event.time_range.start, event.time_range.end))
    computed = max(last for _, last in spans["ready"])  # the last gradient is there, and DDP waits for the sums
    within = sum(max(0.0, min(last, computed) - first) for first, last in spans["reduction"])
    return len(spans["reduction"]), within / sum(last - first for first, last in spans["reduction"])


def measure(given: argparse.Namespace) -> dict[str, object]:
    """Measure all sides in turn, in this process and the other one alike."""
    sides, taken = Sides(given), {side: list[float]() for side in SIDES}
    for side in SIDES * 2:
        sides.update(side)
    plain = torch.tensor(statistics.median(sides.update("none") for _ in range(5)))
    dist.broadcast(plain, 0)
    sides.link.seconds_per_byte = float(plain) / sides.bytes
    for _ in range(given.rounds):
        for side in SIDES:
            taken[side].append(sides.update(side) * 1000)
    middle = {side: statistics.median(values) for side, values in taken.items()}
    lost = {side: middle[side] - middle["none"] for side in SIDES[1:]}
    number, within = overlap(sides, given.trace if dist.get_rank() == 0 else None)
    return {
        "megabytes": round(sides.bytes / 1e6, 1),
        "milliseconds": {
            side: [round(each) for each in (middle[side], *sorted(taken[side])[:: given.rounds - 1])]
            for side in SIDES
        },
        "flat": round(middle["flat"] / middle["none"], 2),
        "lost": {side: round(value) for side, value in lost.items()},
        "ratio": round(lost["replicate"] / lost["flat"], 2),
        "reductions": number,
        "overlapped": round(within, 2),
    }


def main() -> int:
    """Start the other process, and print what this one measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("width", 256), ("layers", 12), ("tokens", 512), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--trace", type=Path, help="where the trace of an update is written, for chrome://tracing")
    given = parser.parse_args()
    if "RANK" not in os.environ:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(probe.getsockname()[1]), "WORLD_SIZE": "2"}
        environments = [os.environ | place | {"RANK": str(rank)} for rank in range(2)]
        processes = [subprocess.Popen([sys.executable, *sys.argv], env=each) for each in environments]
        return max(process.wait() for process in processes)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    result = measure(given)
    if dist.get_rank() == 0:
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
    dist.barrier()
    os._exit(0)  # the thread of the link still runs


if __name__ == "__main__":
    sys.exit(main())

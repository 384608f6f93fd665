"""Memory that `regard plan` computes against that of a step of one process of 64, followed tensor by tensor.

    python benchmarks/plan_memory.py

The other 63 are fake (torch's FakeStore): collectives allocate what real ones do and exchange nothing. Tensors have
shapes and no contents, so that a model of any size fits this machine; torch's memory trackers add up what is alive.
fp32, AdamW, no dropout, no average.
"""

import argparse
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed import device_mesh
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed._tools.mem_tracker import MemTracker
from torch.testing._internal.distributed.fake_pg import FakeStore

from regard.data.feeds.windows import WindowBatch
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.language_model import LanguageObjective
from regard.runs.planning.cluster import Planner
from regard.runs.planning.devices import DEVICES
from regard.runs.planning.recipes import find_recipe, resolve_run, without_data
from regard.runs.planning.settings import ClusterSettings
from regard.runs.planning.workload import workload
from regard.training.parallel.layout import Layout
from regard.training.parallel.replicate import LossModule
from regard.training.parallel.shard import shard

WORLD, WINDOW, VOCABULARY = 64, 1024, 50_257
NO_DROPOUT = {"dropout": 0.0, "embedding_dropout": 0.0}


def followed(name: str, strategy: str, windows: int) -> float:
    """Return the largest number of bytes that are alive in two updates."""
    settings = family("gpt").settings(**preset(name).settings | NO_DROPOUT)
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).train()
        module = LossModule(model, LanguageObjective())
        if strategy == "shard":
            shard(module, torch.device("cpu"), Layout(shards=WORLD))
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)
        tokens = torch.zeros(windows, WINDOW, dtype=torch.int64)
        batch, count = WindowBatch(tokens, tokens, tokens.numel()), {"ce": tokens.numel(), "nll": tokens.numel()}
        tracker: Any = FSDPMemTracker(module, optimizer) if strategy == "shard" else MemTracker()
        if strategy != "shard":
            tracker.track_external(module, optimizer)
        with tracker:
            for _ in range(2):
                module(batch, count)[0].backward()
                optimizer.step()
                optimizer.zero_grad()
                tracker.reset_mod_stats()
        peaks = tracker.get_tracker_snapshot("peak")
    return float(max(sum(value for key, value in each.items() if str(key) == "Total") for each in peaks.values()))


def planned(name: str, strategy: str, windows: int) -> float:
    """Return the bytes that the plan has for the same."""
    values = {"preset": name} | NO_DROPOUT
    train = {"tokens_per_update": windows * WINDOW * WORLD, "ema_decay": 0.0, "optimizer": "adamw"}
    changes = {"model": values, "text": {"size": VOCABULARY}, "train": train}
    settings = resolve_run(*without_data(find_recipe("language-model"), changes)).settings
    load = workload(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    device = replace(DEVICES["h200"], type="cpu")
    planner = Planner(load, device, ClusterSettings(nodes=8, gpus=8), settings.train, 1e5, 4)
    planner.limit = windows * WINDOW
    return next(each.memory.total for each in planner.estimates(1.0) if each.strategy == strategy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["gpt2", "gpt2-large"])
    parser.add_argument("--windows", nargs="+", type=int, default=[4, 16])
    given = parser.parse_args()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=WORLD)
    mesh = device_mesh.init_device_mesh("cpu", (WORLD,), mesh_dim_names=("shard",))
    device_mesh.init_device_mesh = lambda *_, **named: mesh  # a mesh has contents, which fake tensors have not
    print("| model | strategy | windows of 1,024 | followed | planned | |\n|---|---|---|---|---|---|")
    for name in given.models:
        for strategy in ("replicate", "shard"):
            for windows in given.windows:
                real, plan = followed(name, strategy, windows), planned(name, strategy, windows)
                shown = " | ".join(f"{size / 2**30:.2f} GiB" for size in (real, plan))
                print(f"| {name} | {strategy} | {windows} | {shown} | {100 * (plan / real - 1):+.1f} % |", flush=True)


if __name__ == "__main__":
    main()

"""Training speed of GPT-2 on a GPU: regard against nanoGPT, compiled, in the same run.

    python benchmarks/gpt_speed_cuda.py --nanogpt CHECKOUT

CHECKOUT is a folder that holds nanoGPT's model.py; nothing of it is part of this project. Both sides: GPT-2 124M
without dropout, bf16 autocast, gradients clipped to norm 1, fused AdamW, the same random tokens; they take turns.
"""

import argparse
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from regard.data.feeds.windows import WindowBatch
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.language_model import LanguageObjective
from regard.training.device.gradients import build_gradients
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings

VOCABULARY, RATE = 50_257, 6e-4
OPTIMIZER: dict[str, Any] = {"lr": RATE, "betas": (0.9, 0.95), "weight_decay": 0.1, "fused": True}


def regard_step(
    batch: WindowBatch, sizes: dict[str, Any], device: str, is_compiled: bool, is_half_precision: bool = False
) -> Callable[[], object]:
    machine = prepare_machine(MachineSettings(device=device, compile=is_compiled, bf16_residual=is_half_precision))
    settings = family("gpt").settings(
        **preset("gpt2").settings | sizes | {"dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0}
    )
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), **OPTIMIZER)
    gradients = build_gradients(model, LanguageObjective(), machine)
    counts = dict.fromkeys(("ce", "nll"), batch.label_count)

    def step() -> object:
        gradients.begin(counts)
        sums = gradients.add(batch)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        gradients.clear()
        return sums["nll"]

    return step


def nano_step(batch: WindowBatch, sizes: dict[str, Any], device: str, folder: Path) -> Callable[[], object]:
    spec = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nanogpt_model"] = module
    spec.loader.exec_module(module)
    names = {"layers": "n_layer", "heads": "n_head", "width": "n_embd", "max_positions": "block_size"}
    shape = {names[name]: value for name, value in sizes.items() if name in names}
    model = module.GPT(module.GPTConfig(bias=False, **shape))  # as in its train.py, which its users run
    model = model.to(device).train()
    compiled = torch.compile(model) if device == "cuda" else model
    optimizer = torch.optim.AdamW(model.parameters(), **OPTIMIZER)
    tokens, labels = batch.tokens.to(device), batch.labels.to(device)

    def step() -> object:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            _, loss = compiled(tokens, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nanogpt", type=Path, help="folder with nanoGPT's model.py; unset: regard alone")
    parser.add_argument("--windows", type=int, default=32)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--profile", type=Path, help="file for the kernels of a step of each side, and their time")
    words = parser.parse_args()
    tokens = torch.randint(0, VOCABULARY, (words.windows, words.length + 1))
    batch = WindowBatch(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), words.windows * words.length)
    sizes = {"layers": words.layers, "heads": 12, "width": 768, "max_positions": words.length}
    sides = {
        "regard": lambda: regard_step(batch, sizes, words.device, is_compiled=False),
        "regard, blocks compiled": lambda: regard_step(batch, sizes, words.device, is_compiled=True),
        "regard, blocks compiled, narrow sums": lambda: regard_step(
            batch, sizes, words.device, True, is_half_precision=True
        ),
    }
    if words.device != "cuda":
        sides = {"regard": sides["regard"]}
    if words.nanogpt:
        sides["nanoGPT, compiled"] = lambda: nano_step(batch, sizes, words.device, words.nanogpt)
    is_gpu = words.device == "cuda"
    ready, memory, seconds = {}, {}, {name: [] for name in sides}
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    for name, build in sides.items():  # compiling, recording
        held = torch.cuda.memory_allocated() if is_gpu else 0
        if is_gpu:
            torch.cuda.reset_peak_memory_stats()
        ready[name] = build()
        for _ in range(4):
            ready[name]()
        wait()
        memory[name] = round((torch.cuda.max_memory_allocated() - held) / 2**30, 2) if is_gpu else None
    for _ in range(words.rounds):
        for name, step in ready.items():
            wait()
            started = time.perf_counter()
            for _ in range(words.steps):
                step()
            wait()
            seconds[name].append((time.perf_counter() - started) / words.steps)
    speed = {name: round(batch.label_count / statistics.median(each)) for name, each in seconds.items()}
    last = list(speed)[-1]
    result = {
        "tokens_per_second": speed,
        "ratio": {name: round(value / speed[last], 3) for name, value in speed.items()},
        "peak_gibibytes": memory,
        "machine": f"{torch.cuda.get_device_name() if is_gpu else 'CPU'}, torch {torch.__version__}",
    }
    print(json.dumps(result, indent=2))
    if words.profile:
        words.profile.write_text("\n".join(f"== {name}\n{kernels(step)}" for name, step in ready.items()))


def kernels(step: Callable[[], object], steps: int = 3, most: int = 60) -> str:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    rows = sorted(seen.key_averages(), key=lambda row: -row.self_device_time_total)
    each = [
        f"{row.self_device_time_total / 1e3 / steps:8.3f} ms {row.count / steps:7.1f} x {row.key[:140]}"
        for row in rows
    ]
    total = sum(row.self_device_time_total for row in rows) / 1e3 / steps
    return "\n".join([f"{total:8.3f} ms in all", *each[:most]])


if __name__ == "__main__":
    main()

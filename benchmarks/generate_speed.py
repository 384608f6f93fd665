"""Generation speed on this machine: regard against Hugging Face generate(), the same weights and the same prompts.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/generate_speed.py --preset gpt2 --device cpu

The weights are random, those of a Hugging Face GPT-2 of the preset's size, and copied: logits must be equal to 1e-3
before anything is timed. Both generate exactly --tokens tokens, greedily. Each side runs in its own process, and
they take turns round by round, so that a machine that slows down slows both. `--sides` may add "compiled":
generate() with a static cache and a compiled step, which is for CUDA; and "int8": regard with int8 weights, which
is for a CPU. Ratios are against the side that is named first. `cpu_ms_per_token` is the time processors worked,
whatever else ran.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

SIDES = ("regard", "generate()", "compiled", "int8")

LAYERS = {
    "attn.c_attn": "attention.query_key_value",
    "attn.c_proj": "attention.output",
    "mlp.c_fc": "feed_forward.inner",
    "mlp.c_proj": "feed_forward.outer",
    "ln_1": "around_attention.norm",
    "ln_2": "around_feed_forward.norm",
}
"""Their layers of a block and ours."""


@dataclass(frozen=True)
class Task:
    """The job of both sides."""

    preset: str
    vocabulary: int
    prompt: int
    tokens: int
    device: str
    precision: str
    threads: int


def build(task: Task):
    """Return their model and ours with the same weights."""
    import torch
    import transformers

    from regard.models.base.settings import Vocabularies
    from regard.models.families import build_model, family
    from regard.models.presets import preset

    made = preset(task.preset)
    settings = family(made.settings["family"]).settings(**made.settings)
    shape = {"n_embd": settings.width, "n_layer": settings.layers, "n_head": settings.heads}
    shape |= {"n_inner": settings.feed_forward_width, "n_positions": settings.max_positions}
    torch.manual_seed(0)
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=task.vocabulary, **shape)).eval()
    ours = build_model(settings, Vocabularies(task.vocabulary, task.vocabulary, True)).eval()
    weights = theirs.transformer.state_dict()
    named = {"embedding.table": "wte", "head": "wte", "embedding.positions.table": "wpe"}
    found = {f"{name}.weight": weights[f"{other}.weight"] for name, other in named.items()}
    for part in ("weight", "bias"):
        found[f"norm.{part}"] = weights[f"ln_f.{part}"]
        for number in range(settings.layers):
            for other, name in LAYERS.items():
                value = weights[f"h.{number}.{other}.{part}"]  # their products have inputs before outputs
                found[f"blocks.{number}.{name}.{part}"] = value.T if value.dim() == 2 else value
    ours.load_state_dict(found)
    tokens = torch.randint(4, task.vocabulary, (2, 32), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        apart = float((theirs(tokens).logits - ours(tokens)).abs().max())
    if apart > 1e-3:
        sys.exit(f"logits differ by {apart}")
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[task.precision]
    return theirs.to(task.device, dtype), ours.to(task.device, dtype)


def build_regard(task: Task, holds_int8: bool = False):
    """Return a function from prompts to the continuations of regard."""
    from regard.decoding.generate import generate
    from regard.decoding.session import GenerationJob
    from regard.decoding.settings import TextDecoding
    from regard.decoding.steppers.interface import Request, SpecialTokens
    from regard.nn.inference.int8 import quantize_int8
    from regard.training.device.machine import keep_freed_memory

    keep_freed_memory()
    _, model = build(task)
    if holds_int8:
        quantize_int8(model)
    settings = TextDecoding(max_new_tokens=task.tokens, min_new_tokens=task.tokens, temperature=0)
    job = GenerationJob([model], SpecialTokens(0, 0, ()), settings, model.max_positions)
    return lambda prompts: [best.ids for (best,) in generate(job, [Request(ids, task.tokens) for ids in prompts])]


def build_theirs(task: Task, compiled: bool = False):
    """Return a function from prompts to the continuations of generate()."""
    import torch

    model, _ = build(task)
    options = {"max_new_tokens": task.tokens, "min_new_tokens": task.tokens, "do_sample": False}
    options |= {"pad_token_id": 0, "eos_token_id": 0, "use_cache": True}
    if compiled:
        options["cache_implementation"] = "static"

    @torch.inference_mode()
    def generate(prompts):
        tokens = torch.tensor(prompts, device=task.device)
        found = model.generate(tokens, attention_mask=torch.ones_like(tokens), **options)
        return found[:, tokens.size(1) :].tolist()

    return generate


def work(side: str, task: Task, pipe: Connection) -> None:
    """Be one side: continue the requested prompts, and send the outputs, their duration and their processor time."""
    import torch

    torch.set_num_threads(task.threads)
    is_ours = side in ("regard", "int8")
    generate = build_regard(task, side == "int8") if is_ours else build_theirs(task, side == "compiled")
    pipe.send("ready")
    while prompts := pipe.recv():
        started, worked = time.perf_counter(), time.process_time()
        outputs = generate(prompts)
        pipe.send((time.perf_counter() - started, time.process_time() - worked, outputs))


def measure(pipes: dict[str, Connection], prompts: list[list[int]], rounds: int, tokens: int) -> list[dict]:
    """Let all sides continue the prompts in turn, once to warm up, and return a row for each."""
    seconds: dict[str, list[float]] = {side: [] for side in pipes}
    busy: dict[str, list[float]] = {side: [] for side in pipes}
    outputs: dict[str, list[list[int]]] = {}
    for number in range(rounds + 1):
        for side in list(pipes) if number % 2 else list(pipes)[::-1]:
            pipes[side].send(prompts)
            elapsed, worked, outputs[side] = pipes[side].recv()
            name = f"round {number}" if number else "warm-up"
            print(f"batch {len(prompts)}, {name}, {side}: {elapsed:.2f} s", file=sys.stderr, flush=True)
            if number:
                seconds[side].append(elapsed)
                busy[side].append(worked)
    first = next(iter(pipes))
    same = {
        side: sum(
            a == b for ours, theirs in zip(outputs[first], outputs[side], strict=True) for a, b in zip(ours, theirs)
        )
        for side in pipes
    }
    return [
        {
            "batch": len(prompts),
            "side": side,
            "tokens_per_second": round(len(prompts) * tokens / statistics.median(seconds[side]), 1),
            f"{first}_is_faster_by": round(
                statistics.median(theirs / ours for ours, theirs in zip(seconds[first], seconds[side], strict=True)),
                3,
            ),
            "cpu_ms_per_token": round(1000 * statistics.median(busy[side]) / (len(prompts) * tokens), 2),
            "equal_tokens": round(same[side] / (len(prompts) * tokens), 4),
        }
        for side in pipes
    ]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="gpt2", help="a preset of the family gpt that GPT-2's shape fits")
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--prompt", type=int, default=32, help="tokens of a prompt")
    parser.add_argument("--tokens", type=int, default=64, help="generated tokens per prompt")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sides", nargs="+", default=list(SIDES[:2]), choices=SIDES)
    return parser.parse_args()


def main() -> None:
    """Measure, and print a line of JSON for each side and batch."""
    import numpy as np

    arguments = parse()
    names = ("preset", "vocabulary", "prompt", "tokens", "device", "precision", "threads")
    task = Task(**{name: getattr(arguments, name) for name in names})
    context, pipes, processes = get_context("spawn"), {}, []
    for side in arguments.sides:
        pipes[side], other = context.Pipe()
        processes.append(context.Process(target=work, args=(side, task, other), daemon=True))
        processes[-1].start()
    for pipe in pipes.values():
        pipe.recv()
    draw = np.random.default_rng(0)
    for batch in arguments.batch:
        prompts = draw.integers(4, task.vocabulary, (batch, task.prompt)).tolist()
        for row in measure(pipes, prompts, arguments.rounds, task.tokens):
            print(json.dumps(row | asdict(task) | {"machine": platform.node()}), flush=True)
    for pipe in pipes.values():
        pipe.send(None)
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()

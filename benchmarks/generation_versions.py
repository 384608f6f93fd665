"""Generation speed of this tree against an earlier commit: the same checkpoints, text to text, taking turns.

    python benchmarks/generation_versions.py --base b390104 --rounds 15

The earlier commit trains a translator and a language model of the miniature world for a short while; both versions
read them. Each side is one process with one thread, and the two take turns call by call. A ratio is the median over
rounds of now / base, for the seconds a processor worked (what else the machine does counts little) and for the clock;
`operations` is that of the torch operations of one call, which nothing else can disturb.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from versions import ROOT, SHORT, environment, tree_of

RECIPES = {"translate-miniature": ["train.steps=150"], "language-miniature": ["train.steps=60"]}
"""Recipes of the models, and how short their training is made."""
LENGTH = {"max_new_tokens": 64, "min_new_tokens": 64}
CALLS: dict[str, tuple[str, int, dict[str, object]]] = {
    "translate, greedy, batch 64": ("translate-miniature", 64, {"beam_size": 1}),
    "translate, beam 5, batch 64": ("translate-miniature", 64, {"beam_size": 5}),
    "translate, beam 5, one by one": ("translate-miniature", 1, {"beam_size": 5}),
    "generate, greedy, batch 1": ("language-miniature", 1, LENGTH | {"temperature": 0}),
    "generate, greedy, batch 16": ("language-miniature", 16, LENGTH | {"temperature": 0}),
    "generate, top-k 40, batch 16": ("language-miniature", 16, LENGTH | {"temperature": 1.0, "top_k": 40}),
}
"""Calls by name: the recipe, rows of a call, options."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="the earlier commit, or a folder with its tree")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=Path, help="keep the trained models here, and use those that are there")
    parser.add_argument("--side", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        answer_calls(options.side)
        return
    with ExitStack() as stack:
        base = stack.enter_context(tree_of(options.base))
        kept = options.runs or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="regard-generation-")))
        runs = kept.resolve()
        for recipe, settings in RECIPES.items():
            if not (runs / recipe).exists():
                train(base, recipe, settings, runs / recipe)
        sides = {name: Side(tree, runs) for name, tree in (("base", base), ("now", ROOT))}
        for call in CALLS:
            print(json.dumps({"call": call} | compare(sides, call, options.rounds)), flush=True)
        for side in sides.values():
            side.close()


def train(tree: Path, recipe: str, settings: list[str], run: Path) -> None:
    """Train a model with the source of a tree."""
    words = [*settings, *SHORT, "machine.threads=1", "--out", str(run), "--quiet"]
    command = [sys.executable, "-m", "regard", "train", recipe, *words]
    run.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(command, check=True, env=environment(tree), cwd=run.parent, stdout=subprocess.DEVNULL)


class Side:
    """A process that runs the source of a tree."""

    def __init__(self, tree: Path, runs: Path) -> None:
        command = [sys.executable, __file__, "--side", str(runs)]
        environ = environment(tree) | {"OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
        )

    def ask(self, call: str, is_counted: bool = False) -> dict[str, Any]:
        """Return the seconds, outputs and operations of a call."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([call, is_counted]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(sides: dict[str, Side], call: str, rounds: int) -> dict[str, object]:
    """Return the ratios of a call: one to warm up, one counted, and the rounds."""
    outputs = {name: side.ask(call)["outputs"] for name, side in sides.items()}
    counts = {name: side.ask(call, is_counted=True)["operations"] for name, side in sides.items()}
    values: dict[str, list[float]] = {"cpu": [], "clock": []}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        order = list(sides) if number % 2 else list(sides)[::-1]
        answers = {name: sides[name].ask(call) for name in order}
        for kind, ratios in values.items():
            ratios.append(answers["now"][kind] / answers["base"][kind])
        for name, answer in answers.items():
            seconds[name].append(answer["cpu"])
    return {
        **{f"{kind}_ratio": round(statistics.median(ratios), 3) for kind, ratios in values.items()},
        "cpu_seconds": {name: round(statistics.median(each), 4) for name, each in seconds.items()},
        "operations": counts,
        "operations_ratio": round(counts["now"] / counts["base"], 4),
        "is_same_text": outputs["now"] == outputs["base"],
    }


def answer_calls(runs: Path) -> None:
    """Be one side: make the calls that standard input asks for, and print a line for each."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    import regard
    from regard import miniature

    torch.set_num_threads(1)
    models: dict[str, Any] = {recipe: regard.load(runs / recipe) for recipe in RECIPES}
    sources = [pair.source for pair in miniature.pairs("test", 64)]
    prompts = [" ".join(pair.target.split()[:3]) for pair in miniature.pairs("test", 16)]
    for line in sys.stdin:
        call, is_counted = json.loads(line)
        recipe, size, given = CALLS[call]
        texts = sources[:: 64 // 8] if size == 1 and recipe.startswith("translate") else sources[:size]
        rows = texts if recipe.startswith("translate") else prompts[:size]
        batches = [rows[start : start + size] for start in range(0, len(rows), size)]
        profiler = profile(activities=[ProfilerActivity.CPU]) if is_counted else None
        with profiler or ExitStack():
            started, worked = time.perf_counter(), time.process_time()
            outputs = [each.text for batch in batches for each in models[recipe](batch, **given)]
            cpu, clock = time.process_time() - worked, time.perf_counter() - started
        keys = profiler.key_averages() if profiler else []
        operations = sum(event.count for event in keys if event.key.startswith("aten::"))
        print(json.dumps({"cpu": cpu, "clock": clock, "outputs": outputs, "operations": operations}), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
